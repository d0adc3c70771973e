/** Sound that has come and is still to be played: it waits a little, so that a piece that is late makes no gap. */

/** Waits before it plays, and after it ran empty … */
const WAIT_SECONDS = 0.12;
/** … and what is later than this is caught up with. */
const MOST_SECONDS = 0.5;

export class JitterBuffer {
  readonly #wait: number;
  readonly #most: number;
  #pieces: Float32Array[] = [];
  #waiting = 0;
  #plays = false;

  /** `rate` is in samples a second. */
  constructor(rate: number) {
    this.#wait = WAIT_SECONDS * rate;
    this.#most = MOST_SECONDS * rate;
  }

  push(samples: Float32Array): void {
    if (samples.length === 0) return;
    this.#pieces.push(samples);
    this.#waiting += samples.length;
    if (this.#waiting > this.#most) this.#drop(this.#waiting - this.#wait);
    if (this.#waiting >= this.#wait) this.#plays = true;
  }

  /** Fill `output`; with silence where there is nothing to play. */
  pull(output: Float32Array): void {
    let filled = 0;
    while (this.#plays && filled < output.length) {
      const piece = this.#pieces[0];
      if (!piece) {
        this.#plays = false;
        break;
      }
      const taken = piece.subarray(0, output.length - filled);
      output.set(taken, filled);
      filled += taken.length;
      this.#drop(taken.length);
    }
    output.fill(0, filled);
  }

  #drop(count: number): void {
    let left = Math.floor(count);
    while (left > 0) {
      const piece = this.#pieces[0];
      if (!piece) return;
      const taken = Math.min(left, piece.length);
      if (taken === piece.length) this.#pieces.shift();
      else this.#pieces[0] = piece.subarray(taken);
      this.#waiting -= taken;
      left -= taken;
    }
  }
}
