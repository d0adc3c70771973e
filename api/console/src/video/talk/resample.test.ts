import { expect, test } from "vitest";
import { Resampler } from "./resample";

function tone(hertz: number, rate: number, seconds: number): Float32Array {
  return Float32Array.from({ length: rate * seconds }, (_, at) =>
    Math.sin((2 * Math.PI * hertz * at) / rate),
  );
}

/** Through a resampler in pieces as a browser has them. */
function resampled(samples: Float32Array, from: number, to: number): Float32Array {
  const resampler = new Resampler(from, to);
  const made: number[] = [];
  for (let at = 0; at < samples.length; at += 128)
    made.push(...resampler.push(samples.subarray(at, at + 128)));
  return Float32Array.from(made);
}

/** The amplitude at a frequency, without the first and last tenth of a second. */
function amplitude(samples: Float32Array, hertz: number, rate: number): number {
  const part = samples.subarray(rate / 10, samples.length - rate / 10);
  let [real, imaginary] = [0, 0];
  part.forEach((sample, at) => {
    real += sample * Math.cos((2 * Math.PI * hertz * at) / rate);
    imaginary += sample * Math.sin((2 * Math.PI * hertz * at) / rate);
  });
  return (2 * Math.hypot(real, imaginary)) / part.length;
}

test.each([
  [48_000, 8000],
  [44_100, 8000],
  [96_000, 8000],
  [8000, 48_000],
  [8000, 44_100],
])("voices come through from %i to %i samples a second", (from, to) => {
  for (const hertz of [200, 1000, 3000]) {
    const made = resampled(tone(hertz, from, 3), from, to);
    expect(Math.abs(made.length - 3 * to)).toBeLessThan(to / 50);
    expect(amplitude(made, hertz, to)).toBeCloseTo(1, 1);
  }
});

test("what 8,000 samples a second cannot hold is taken out, and makes no tone", () => {
  for (const hertz of [5000, 6000, 7000, 11_000]) {
    const made = resampled(tone(hertz, 48_000, 1), 48_000, 8000);
    const loudest = made.subarray(800).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    expect(loudest).toBeLessThan(0.001);
  }
});

test("playing at a higher rate adds no mirrored tones", () => {
  const made = resampled(tone(1000, 8000, 1), 8000, 48_000);
  for (const hertz of [7000, 9000, 15_000]) expect(amplitude(made, hertz, 48_000)).toBeLessThan(0.001);
});
