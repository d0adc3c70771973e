import { describe, expect, test } from "vitest";
import { arrivedOf, instantAt, mediaTimeOf, seekable } from "./instants";

const T = Date.parse("2026-05-01T14:32:00Z");
/** Two segments, then a seek ten minutes ahead. */
const segments = [
  { start: 0, duration: 2, programDateTime: T },
  { start: 2, duration: 2, programDateTime: T + 2000 },
  { start: 4, duration: 3, programDateTime: T + 600_000 },
];

describe("a playlist with a seek", () => {
  test("media times are instants of the recording", () => {
    expect(instantAt(segments, 0)).toBe(T);
    expect(instantAt(segments, 3.5)).toBe(T + 3500);
    expect(instantAt(segments, 4)).toBe(T + 600_000);
    // The last picture may be shown a little past the end of its segment.
    expect(instantAt(segments, 7.1)).toBe(T + 603_100);
    expect(instantAt([], 1)).toBe(null);
  });

  test("an instant is found where it has arrived", () => {
    expect(mediaTimeOf(segments, T + 3500)).toBe(3.5);
    expect(mediaTimeOf(segments, T + 601_000)).toBe(5);
    expect(mediaTimeOf(segments, T + 4000)).toBe(null);
    expect(mediaTimeOf(segments, T - 1)).toBe(null);
  });

  test("both directions agree wherever something has arrived", () => {
    for (let media = 0; media < 7; media += 0.125) {
      const instant = instantAt(segments, media);
      expect(instant).not.toBe(null);
      expect(mediaTimeOf(segments, instant ?? 0)).toBeCloseTo(media, 6);
    }
  });

  test("the last second cannot be sought while more is to come", () => {
    expect(seekable(segments, 3.9)).toBe(3.9);
    expect(seekable(segments, 6)).toBe(6);
    expect(seekable(segments, 6.9)).toBe(6);
    // Not what was recorded elsewhere.
    expect(seekable([{ start: 4, duration: 0.5, programDateTime: T }], 4.4)).toBe(4);
    expect(seekable([], 1)).toBe(1);
  });

  test("what arrived is joined where it is without a gap", () => {
    expect(arrivedOf(segments)).toEqual([
      { from: T, to: T + 4000 },
      { from: T + 600_000, to: T + 603_000 },
    ]);
  });
});

test("what was sent twice is played as it came last", () => {
  const again = [...segments, { start: 7, duration: 2, programDateTime: T + 1000 }];
  expect(mediaTimeOf(again, T + 1500)).toBe(7.5);
  expect(arrivedOf(again)[0]).toEqual({ from: T, to: T + 4000 });
});

test("media without times has no instants", () => {
  const bare = [{ start: 0, duration: 2, programDateTime: null }];
  expect(instantAt(bare, 1)).toBe(null);
  expect(mediaTimeOf(bare, T)).toBe(null);
  expect(arrivedOf(bare)).toEqual([]);
});
