/** What a timeline shows: lanes of blocks, one above the other. Instants are milliseconds since 1970. */

/** A span with a meaning: a trip, a recording, … An event is a block whose ends are the same. */
export interface Block {
  from: number;
  to: number;
  kind: string;
  /** Read out, and shown where the pointer is. */
  label: string;
  /** Written into it where there is room. */
  name?: string;
  /** Name of a color of styles/tokens.css, such as `moving`. */
  tone: string;
  /** Drawn as stripes: not yet here. */
  hatched?: boolean;
  /** Part of the lane's height; 1 without it. */
  height?: 0.5 | 1;
  /** What a click does, besides moving the cursor. */
  act?: () => void;
}

export interface Lane {
  id: string;
  label: string;
  /** Ordered by `from`. */
  blocks: readonly Block[];
  /** Instants and values of a line over the lane, ordered. */
  series?: readonly [at: number, value: number][];
}
