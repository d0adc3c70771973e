import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ASLEEP_MS, onWake } from "./sleepDetection";

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("window", globalThis);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a clock that went on while timers stood still is a sleep, and one that is a minute late is none", () => {
  const woken = vi.fn();
  const end = onWake(woken);
  vi.advanceTimersByTime(600_000);
  vi.setSystemTime(Date.now() + 60_000);
  vi.advanceTimersByTime(60_000);
  expect(woken).not.toHaveBeenCalled();
  vi.setSystemTime(Date.now() + ASLEEP_MS);
  vi.advanceTimersByTime(60_000);
  expect(woken).toHaveBeenCalledTimes(1);
  // A clock that is set back is none.
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(60_000);
  expect(woken).toHaveBeenCalledTimes(1);
  end();
  vi.setSystemTime(Date.now() + ASLEEP_MS);
  vi.advanceTimersByTime(60_000);
  expect(woken).toHaveBeenCalledTimes(1);
});
