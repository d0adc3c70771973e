/** What the map shows over the outlines, as one choice of two settings (docs/console.md#map). */

export const KINDS = ["openfreemap", "none", "own", "file"] as const;

/** `tiles` and `file` of `[map]`. */
export interface Streets {
  kind: (typeof KINDS)[number];
  /** The address of tiles or of a style of one's own. */
  own: string;
  /** The path of a file in the data folder of the server. */
  file: string;
}

/** The choice that two settings are. */
export function streetsOf(tiles: string, file: string): Streets {
  if (tiles !== "openfreemap" && tiles !== "none") return { kind: "own", own: tiles, file };
  return { kind: file && tiles !== "none" ? "file" : tiles, own: "", file };
}

/** The two settings that a choice is. */
export function settingsOf({ kind, own, file }: Streets): { tiles: string; file: string | null } {
  if (kind === "file") return { tiles: "openfreemap", file: file.trim() };
  return { tiles: kind === "own" ? own.trim() : kind, file: null };
}
