import { expect, test } from "vitest";
import type { Capture, Playback } from "../../api/types";
import { heldSpan, playableAt, sourceAt } from "./sources";

const time = (minute: number) => `2026-05-01T10:${String(minute).padStart(2, "0")}:00Z`;
const at = Date.parse(time(5));
const capture = (url: string, from: number, to: number) =>
  ({ channel: 2, url, status: "COMPLETE", startTime: time(from), endTime: time(to) }) as Capture;
const playback = (values: Partial<Playback>) =>
  ({
    channel: 2,
    status: "RUNNING",
    seconds: 0,
    startTime: time(0),
    endTime: time(9),
    ...values,
  }) as Playback;
const known = { deviceId: 7, clock: 0, captures: [], playbacks: [] };
const running = { kind: "playback", deviceId: 7, camera: 2 } as const;

test("a kept file that has the instant goes before a playback", () => {
  const captures = [capture("late", 6, 8), capture("a", 3, 8)];
  const kept = { kind: "file", url: "a", from: Date.parse(time(3)), to: Date.parse(time(8)) };
  expect(sourceAt(2, at, { ...known, captures, playbacks: [playback({})] }, null)).toEqual(kept);
  expect(sourceAt(1, at, { ...known, captures }, null)).toBe(null);
});

test("what plays goes on", () => {
  const captures = [capture("a", 3, 8)];
  expect(sourceAt(2, at, { ...known, captures, playbacks: [playback({})] }, running)).toEqual(running);
  expect(sourceAt(2, at, { ...known, captures }, running)?.kind).toBe("file");
});

test("a playback without anything, or of another time, is none", () => {
  for (const values of [{ status: "ENDED" as const }, { startTime: time(6) }, { endTime: time(5) }])
    expect(sourceAt(2, at, { ...known, playbacks: [playback(values)] }, null)).toBe(null);
  expect(sourceAt(2, at, { ...known, playbacks: [playback({ status: "ENDED", seconds: 3 })] }, null)).toEqual(
    running,
  );
});

test("what holds an instant is found by the clock of the camera", () => {
  const captures = [capture("a", 3, 5)];
  expect(sourceAt(2, at, { ...known, captures }, null)).toBe(null);
  const kept = { kind: "file", url: "a", from: Date.parse(time(3)), to: at };
  expect(sourceAt(2, at, { ...known, captures, clock: 500 }, null)).toEqual(kept);
  expect(
    sourceAt(2, at, { ...known, playbacks: [playback({ endTime: time(5) })], clock: 500 }, null),
  ).toEqual(running);
});

test("what Play plays is kept or has arrived", () => {
  const arrived = { status: "RUNNING" as const, seconds: 9, arrivedTo: time(6) };
  expect(playableAt(2, at, { ...known, playbacks: [playback(arrived)] })).toEqual(running);
  expect(
    playableAt(2, at, { ...known, playbacks: [playback({ ...arrived, arrivedTo: time(4) })] }),
  ).toBeNull();
  expect(playableAt(2, at, { ...known, captures: [capture("a", 3, 8)] })?.kind).toBe("file");
});

test("live video has the times of the server, whatever the clock of the camera says", () => {
  const live = { live: true, startedAt: time(3), completedAt: time(8), startTime: null, endTime: null };
  const kept = { ...capture("a", 0, 0), ...live } as Capture;
  const clock = 5000;
  expect(heldSpan(kept, clock)).toEqual({
    from: Date.parse(time(3)) - clock,
    to: Date.parse(time(8)) - clock,
  });
  expect(heldSpan({ ...kept, completedAt: null }, clock)).toBeNull();
  expect(sourceAt(2, Date.parse(time(3)), { ...known, clock, captures: [kept] }, null)?.kind).toBe("file");
  expect(sourceAt(2, Date.parse(time(3)) - 1, { ...known, clock, captures: [kept] }, null)).toBeNull();
});
