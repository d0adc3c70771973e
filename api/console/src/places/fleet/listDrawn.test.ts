import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { clearFleet, loaded } from "../../state/fleet";
import { listDrawn } from "./listDrawn";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (then: () => void) => setTimeout(then, 16));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  clearFleet();
});

test("is over a frame after the devices are there, or after some seconds without them", async () => {
  const over: string[] = [];
  void listDrawn().then(() => over.push("late"));
  await vi.advanceTimersByTimeAsync(2900);
  expect(over).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(over).toEqual(["late"]);

  void listDrawn().then(() => over.push("listed"));
  await vi.advanceTimersByTimeAsync(100);
  loaded.value = true;
  expect(over).toEqual(["late"]);
  await vi.advanceTimersByTimeAsync(20);
  expect(over).toEqual(["late", "listed"]);

  void listDrawn().then(() => over.push("known"));
  await vi.advanceTimersByTimeAsync(20);
  expect(over).toEqual(["late", "listed", "known"]);
});
