/**
 * How far behind the camera a live picture plays. A segment is listed when it is complete, so a picture is always older
 * than the segment that plays; what was left to play when the next one came is what it could be younger. Pure: a player
 * says what it sees, and asks how fast to play.
 */

/** Seconds that are to be left when a segment comes: they vary by 0.4 s on the server, and on the way. */
export const LEAST_SECONDS = 0.6;
/** Added when a picture had to wait for a segment … */
const AFTER_WAIT_SECONDS = 0.5;
const MOST_SECONDS = 4;
/** … and taken back for each segment that came in time, in five minutes with segments of two seconds. */
const REGAINED_SECONDS = 0.003;
/** Segments of which the latest one counts. */
const REMEMBERED = 10;
/** Less than this is left as it is. */
const TOLERANCE_SECONDS = 0.15;
/** A picture that has just begun jumps over more than this, as catching up by speed takes ten times as long. */
const JUMP_SECONDS = 0.3;
/** Faster than this, voices sound odd. */
const FASTEST = 1.1;
const RATE_STEP = 0.01;

/** What a player does about a segment that came. */
export interface Advance {
  /** Seconds to leave out. */
  jump: number;
  rate: number;
}

export class LatencyController {
  private left: number[] = [];
  private reserve = LEAST_SECONDS;
  private begun = false;

  /** The newest segment, of `length` seconds, came while `left` seconds were still to be played. */
  arrived(left: number, length: number): Advance {
    this.left.push(left);
    if (this.left.length > REMEMBERED) this.left.shift();
    const surplus = Math.min(...this.left) - this.reserve;
    this.reserve = Math.max(LEAST_SECONDS, this.reserve - REGAINED_SECONDS);
    const first = !this.begun;
    this.begun = true;
    if (first && surplus > JUMP_SECONDS) {
      this.left = [];
      return { jump: surplus, rate: 1 };
    }
    if (surplus < TOLERANCE_SECONDS || length <= 0) return { jump: 0, rate: 1 };
    // No more than the surplus is gained until the next segment comes.
    const gain = Math.floor(surplus / length / RATE_STEP + 1e-6) * RATE_STEP;
    return { jump: 0, rate: Math.min(FASTEST, 1 + gain) };
  }

  /** The picture had to wait for a segment: it shall be further behind. */
  waited(): void {
    this.left = [];
    this.reserve = Math.min(MOST_SECONDS, this.reserve + AFTER_WAIT_SECONDS);
  }
}
