/** What is measured of a picture that plays: does media come as fast as it is played, and is it drawn? */

/** Seconds over which rate and dropped frames are measured. */
export const SPAN = 10;
/** Below this share of real time the line is weak. */
export const WEAK_RATE = 0.85;
/** Or when the picture stood still for this long within a minute. */
export const SHORT_SECONDS = 6;
/** Above this share of dropped frames the computer is too slow. */
export const DROPPED_SHARE = 0.2;

interface Sample {
  at: number;
  value: number;
}

export interface Figures {
  /** Seconds of media for each second that passed; null until it was measured for `SPAN` seconds. */
  rate: number | null;
  /** Seconds in the last minute in which the picture waited for media. */
  short: number;
  /** Share of the frames of the last `SPAN` seconds that were not drawn. */
  dropped: number;
}

/** Times are in seconds of any clock that does not go back. */
export class Health {
  private media: Sample[] = [];
  private stalls: Sample[] = [];
  private frames: { at: number; shown: number; dropped: number }[] = [];
  private stalledSince: number | null = null;
  private begun: number | null = null;

  /** A segment of `seconds` was buffered. */
  buffered(seconds: number, now: number): void {
    this.begun ??= now;
    this.media.push({ at: now, value: seconds });
  }

  /** The picture began or ceased to wait for media. */
  waits(waiting: boolean, now: number): void {
    if (waiting) this.stalledSince ??= now;
    else if (this.stalledSince !== null) {
      this.stalls.push({ at: now, value: now - this.stalledSince });
      this.stalledSince = null;
    }
  }

  /** Totals of frames since the player began. */
  counted(shown: number, dropped: number, now: number): void {
    this.frames.push({ at: now, shown, dropped });
    while (this.frames[1] && this.frames[1].at <= now - SPAN) this.frames.shift();
  }

  figures(now: number): Figures {
    this.media = this.media.filter((each) => each.at > now - SPAN);
    this.stalls = this.stalls.filter((each) => each.at > now - 60);
    const measured = this.begun !== null && now - this.begun >= SPAN;
    const standing = this.stalledSince === null ? 0 : now - this.stalledSince;
    const first = this.frames[0];
    const last = this.frames.at(-1);
    const shown = first && last ? last.shown - first.shown : 0;
    const dropped = first && last ? last.dropped - first.dropped : 0;
    const long = first && last && last.at - first.at >= SPAN / 2;
    return {
      rate: measured ? sum(this.media) / SPAN : null,
      short: Math.min(60, sum(this.stalls) + standing),
      dropped: long && shown + dropped > 0 ? dropped / (shown + dropped) : 0,
    };
  }
}

/** Whether media comes too slowly. */
export function isWeak({ rate, short }: Figures): boolean {
  return short >= SHORT_SECONDS || (rate !== null && rate < WEAK_RATE && short > 0);
}

function sum(samples: readonly Sample[]): number {
  return samples.reduce((total, each) => total + each.value, 0);
}
