import { expect, test } from "vitest";
import { FIRST_FRACTION, shift } from "./playlistReloads";

const LENGTH = 2;
/** The server's part: a request waits for a segment that is due within this. */
const EARLY = 0.75;

/** Requests of a player that begins `behind` seconds after a listing; returns how late it learned of each segment. */
function follow(behind: number, count: number): number[] {
  const late: number[] = [];
  let known = 0;
  let planned = behind + FIRST_FRACTION * LENGTH;
  // As hls.js does, a change is taken into account when the request after the next one is planned.
  let change = 0;
  for (let n = 0; n < count; n += 1) {
    const at = planned;
    let listed = Math.floor(at / LENGTH + 1e-9);
    const next = (listed + 1) * LENGTH;
    const answered = next - at <= EARLY ? next : at + 0.01;
    if (answered === next) listed += 1;
    const news = listed > known;
    if (news) late.push(answered - listed * LENGTH);
    known = listed;
    planned = Math.max(answered, at + change + (news ? LENGTH : LENGTH / 2));
    change = shift(answered - at, news);
  }
  return late;
}

test("each segment is learned of at once, wherever a player begins", () => {
  for (let behind = 0; behind <= LENGTH - EARLY; behind += 0.05) {
    const late = follow(behind, 20);
    expect(late.length).toBeGreaterThan(15);
    for (const each of late) expect(each).toBeLessThan(0.25);
  }
});

test("requests that waited long come later, those that did not earlier, and without news nothing changes", () => {
  expect(shift(0.7, true)).toBeGreaterThan(0.1);
  expect(shift(0.7, true)).toBeLessThan(0.45);
  expect(shift(0.3, true)).toBe(0);
  expect(shift(0.01, true)).toBeLessThan(0);
  expect(shift(0.01, false)).toBe(0);
});
