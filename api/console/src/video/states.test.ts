import { expect, test } from "vitest";
import { begin, dueAt, EMPTY_SECONDS, type Event, type State, step } from "./states";

function after(state: State, now: number, ...events: Event[]): State {
  return events.reduce((each, event) => step(each, event, now), state);
}

const asking = after(begin(true), 1000, { type: "turn" });
const playing = after(asking, 1000, { type: "listed" }, { type: "picture" });

test("a turn, a list and a picture lead to the picture", () => {
  expect(begin(true).phase).toEqual({ name: "queued" });
  expect(asking.phase).toEqual({ name: "asking", since: 1000 });
  expect(playing.phase).toEqual({ name: "playing" });
});

test("an online vehicle that sends nothing is asked again", () => {
  const empty = after(asking, 5000, { type: "nothingListed" });
  expect(dueAt(empty)).toBe(5000 + EMPTY_SECONDS * 1000);
  expect(after(empty, 20_000, { type: "due" }).phase).toEqual({ name: "queued" });
});

test("an offline vehicle is not asked until it is online", () => {
  const empty = after(begin(false), 0, { type: "turn" }, { type: "nothingListed" });
  expect(empty.phase).toEqual({ name: "empty", retryAt: null });
  expect(after(empty, 0, { type: "due" })).toBe(empty);
  expect(after(empty, 9, { type: "online", online: true }).phase).toEqual({ name: "queued" });
});

test("a vehicle that goes offline while it is asked is no longer asked", () => {
  const empty = after(asking, 0, { type: "nothingListed" }, { type: "online", online: false });
  expect(dueAt(empty)).toBeNull();
});

test("a picture that ends is asked for again, or waits for the vehicle", () => {
  expect(after(playing, 0, { type: "ended" }).phase).toEqual({ name: "queued" });
  const gone = after(playing, 0, { type: "online", online: false });
  expect(gone.phase).toEqual({ name: "playing" });
  expect(after(gone, 0, { type: "ended" }).phase).toEqual({ name: "empty", retryAt: null });
});

test.each([401, 403, 404])("status %i is not asked again by itself, but by a person", (status) => {
  const state = after(asking, 0, { type: "refused", status, text: "no" });
  expect(dueAt(state)).toBeNull();
  expect(after(state, 0, { type: "due" }).phase).toEqual({ name: "queued" });
});

test.each([0, 429, 500, 503])("status %i is asked again, later each time", (status) => {
  let state = asking;
  const waits = Array.from({ length: 7 }, () => {
    state = after(state, 0, { type: "refused", status, text: "" });
    return dueAt(state) ?? 0;
  });
  for (const [index, wait] of waits.entries()) {
    const least = Math.min(30, 2 ** index) * 1000;
    expect(wait).toBeGreaterThanOrEqual(least);
    expect(wait).toBeLessThanOrEqual(least * 1.25);
  }
});

test("a decoder is restarted once in place, and then with a new player", () => {
  const restarted = after(playing, 0, { type: "broken", restarted: true });
  expect(restarted.phase).toEqual({ name: "playing" });
  expect(restarted.recovered).toBe(true);
  const broken = after(restarted, 0, { type: "broken", restarted: false });
  expect(broken.phase.name).toBe("broken");
  expect(
    after(broken, 0, { type: "due" }, { type: "turn" }, { type: "listed" }, { type: "picture" }).attempts,
  ).toBe(0);
});

test("a coding that the browser lacks is not tried again", () => {
  const state = after(asking, 0, { type: "listed" }, { type: "codec" });
  expect(dueAt(state)).toBeNull();
  expect(after(state, 0, { type: "due" }, { type: "turn" })).toBe(state);
});
