import { expect, test } from "vitest";
import { makeCursor, toggle } from "./cursor";

test("Play plays what is kept of the instant, unless a film leads, and else lets the clock go on", () => {
  const cursor = makeCursor({ from: 0, to: 1000 }, 500);
  toggle(cursor);
  expect(cursor.playing.value).toBe(true);
  toggle(cursor);
  expect(cursor.playing.value).toBe(false);

  let played = 0;
  cursor.kept.value = () => {
    played += 1;
    cursor.playing.value = true;
  };
  toggle(cursor);
  expect([played, cursor.playing.value]).toEqual([1, true]);
  // A second press pauses it.
  toggle(cursor);
  expect([played, cursor.playing.value]).toEqual([1, false]);
  // A film that leads goes on where it is.
  cursor.led.value = true;
  toggle(cursor);
  expect([played, cursor.playing.value]).toEqual([1, true]);
});
