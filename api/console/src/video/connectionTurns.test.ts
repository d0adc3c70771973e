import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LOW_LATENCY, TURN_MS, Turns, takeLowLatency, WAITING } from "./connectionTurns";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const settle = () => Promise.resolve();

test("of players that begin together the nearest get the turns", async () => {
  const turns = new Turns();
  const begun: number[] = [];
  for (const distance of [500, 20, 300, 10, 400]) {
    turns.take(
      () => distance,
      () => begun.push(distance),
    );
  }
  await settle();
  expect(begun).toEqual([10, 20, 300]);
  expect(begun.length).toBe(WAITING);
});

test("an ended turn goes to the next, and ending it twice gives no second one", async () => {
  const turns = new Turns(1);
  const begun: string[] = [];
  const take = (name: string) =>
    turns.take(
      () => 0,
      () => begun.push(name),
    );
  const end = take("first");
  take("second");
  take("third");
  await settle();
  end();
  end();
  await settle();
  expect(begun).toEqual(["first", "second"]);
});

test("who leaves while waiting gets no turn", async () => {
  const turns = new Turns(1);
  const begun: string[] = [];
  turns.take(
    () => 0,
    () => begun.push("first"),
  );
  const leave = turns.take(
    () => 0,
    () => begun.push("left"),
  );
  await settle();
  leave();
  await vi.advanceTimersByTimeAsync(TURN_MS);
  expect(begun).toEqual(["first"]);
});

test("a turn ends by itself", async () => {
  const turns = new Turns(1);
  const begun: string[] = [];
  for (const name of ["first", "second"])
    turns.take(
      () => 0,
      () => begun.push(name),
    );
  await settle();
  await vi.advanceTimersByTimeAsync(TURN_MS - 1);
  expect(begun).toEqual(["first"]);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual(["first", "second"]);
});

test("low latency has few places over HTTP/1.1 and any number over HTTP/2", () => {
  const held = Array.from({ length: LOW_LATENCY }, () => takeLowLatency("http/1.1"));
  expect(held.every(Boolean)).toBe(true);
  expect(takeLowLatency("http/1.1")).toBeNull();
  expect(takeLowLatency("h2")).not.toBeNull();
  held[0]?.();
  held[0]?.();
  const again = takeLowLatency("http/1.1");
  expect(again).not.toBeNull();
  expect(takeLowLatency("http/1.1")).toBeNull();
  again?.();
  held[1]?.();
});
