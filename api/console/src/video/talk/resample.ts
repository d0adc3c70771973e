/**
 * Sound at another rate, by a windowed sinc: what the lower rate cannot hold is taken out before samples are left out,
 * or it would be heard as tones that nobody said.
 */

/** Zero crossings of the sinc on each side: more are steeper, and later. */
const CROSSINGS = 16;
/** Of the lower rate: half of it is the highest frequency that it can hold, and the filter needs room to fall. */
const CUTOFF = 0.45;

export class Resampler {
  readonly #from: number;
  readonly #to: number;
  /** Input samples on each side of an output sample that have a part in it. */
  readonly #half: number;
  readonly #cutoff: number;
  /** Weights by where an output sample lies between two input samples, in `to` steps. */
  readonly #weights = new Map<number, Float32Array>();
  /** What of the input is still needed. */
  #kept: Float32Array;
  /** Output samples made, in one period of the two rates. */
  #made = 0;
  /** Number of the first kept sample, in the same period. */
  #first: number;

  /** Rates are whole numbers of samples a second. */
  constructor(from: number, to: number) {
    this.#from = from;
    this.#to = to;
    this.#cutoff = (CUTOFF * Math.min(from, to)) / from;
    this.#half = Math.ceil(CROSSINGS / (2 * this.#cutoff));
    this.#kept = new Float32Array(this.#half);
    this.#first = -this.#half;
  }

  /** The samples that this input completes. */
  push(input: Float32Array): Float32Array {
    const samples = new Float32Array(this.#kept.length + input.length);
    samples.set(this.#kept);
    samples.set(input, this.#kept.length);
    const end = this.#first + samples.length;
    const made: number[] = [];
    for (;;) {
      const at = this.#made * this.#from;
      const whole = Math.floor(at / this.#to);
      if (whole + this.#half >= end) break;
      const weights = this.#weightsAt(at % this.#to);
      const start = whole - this.#half + 1 - this.#first;
      let sum = 0;
      for (let each = 0; each < weights.length; each++) {
        sum += (weights[each] ?? 0) * (samples[start + each] ?? 0);
      }
      made.push(sum);
      this.#made++;
    }
    const needed = Math.floor((this.#made * this.#from) / this.#to) - this.#half + 1;
    this.#kept = samples.slice(Math.max(0, needed - this.#first));
    this.#first = end - this.#kept.length;
    // After a second both begin again, so that the numbers stay small.
    if (this.#made >= this.#to && this.#first >= 0) {
      this.#made -= this.#to;
      this.#first -= this.#from;
    }
    return Float32Array.from(made);
  }

  #weightsAt(phase: number): Float32Array {
    const known = this.#weights.get(phase);
    if (known) return known;
    const weights = new Float32Array(2 * this.#half);
    for (let each = 0; each < weights.length; each++) {
      // From the output sample to this input sample.
      const distance = each - this.#half + 1 - phase / this.#to;
      const x = 2 * Math.PI * this.#cutoff * distance;
      const sinc = x === 0 ? 1 : Math.sin(x) / x;
      const turn = (Math.PI * distance) / this.#half;
      // Blackman's window.
      const window =
        Math.abs(distance) >= this.#half ? 0 : 0.42 + 0.5 * Math.cos(turn) + 0.08 * Math.cos(2 * turn);
      weights[each] = 2 * this.#cutoff * sinc * window;
    }
    this.#weights.set(phase, weights);
    return weights;
  }
}
