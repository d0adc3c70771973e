import { expect, test } from "vitest";
import type { Capture, Event, Evidence, Footage, Position } from "../../api/types";
import { around, camerasWithout, filesOf, filmSpan, filmsOf, isPlace, valueNames, wrongTime } from "./proof";

const AT = Date.UTC(2026, 4, 1, 12);
const text = (seconds: number) => new Date(AT + seconds * 1000).toISOString();
const event = { id: 881, type: "alarm", eventTime: text(0), deviceId: 7, positionId: 20 } as Event;
/** Seconds after the event. */
const position = (id: number, seconds: number, attributes = {}): Position =>
  ({ id, fixTime: text(seconds), valid: true, latitude: 41, longitude: -8, attributes }) as Position;

test("the position of an event stands between those before and after it", () => {
  const track = [position(30, 20), position(10, -20), position(20, 0)];
  const found = around(event, track, undefined);
  expect([found.before?.id, found.then?.id, found.after?.id]).toEqual([10, 20, 30]);
  const twice = around(event, [...track, position(15, 0)], undefined);
  expect([twice.before?.id, twice.then?.id, twice.after?.id]).toEqual([10, 20, 30]);
  const alone = around(event, [], position(20, 0));
  expect([alone.before, alone.then?.id, alone.after]).toEqual([undefined, 20, undefined]);
  const without = around({ ...event, positionId: 0 }, [position(1, -5), position(2, 5)], undefined);
  expect([without.before, without.then?.id, without.after?.id]).toEqual([undefined, 1, 2]);
});

test("a place is drawn if the device trusts it and the vehicle can have been there", () => {
  expect(isPlace(position(1, 0))).toBe(true);
  expect(isPlace({ ...position(1, 0), valid: false })).toBe(false);
  expect(isPlace({ ...position(1, 0), latitude: 0, longitude: 0 })).toBe(false);
  expect(isPlace(position(1, 0, { implausible: true }))).toBe(false);
  expect(isPlace(undefined)).toBe(false);
});

test("values that change come first", () => {
  const found = around(
    event,
    [position(10, -1, { power: 12, rpm: 1 }), position(20, 0, { power: 12, rpm: 2, alarm: "sos" })],
    undefined,
  );
  expect(valueNames(found, ["alarm", "power"])).toEqual(["alarm", "rpm", "power"]);
});

const request = (id: number, channel: number, from: number, to: number, status = "WAITING") =>
  ({
    id,
    deviceId: 7,
    channel,
    startTime: text(from),
    endTime: text(to),
    status,
    captureId: status === "COMPLETE" ? `c${id}` : null,
    fileName: status === "COMPLETE" ? `${id}.mp4` : null,
  }) as Footage;
const capture = (id: string, channel: number, from: number | null, status = "COMPLETE") =>
  ({
    id,
    channel,
    status,
    size: 5,
    fileName: `${id}.mp4`,
    startTime: from === null ? null : text(from),
    endTime: from === null ? null : text(from + 20),
    live: false,
  }) as Capture;

test("films are what is asked for and what is captured around the event, each once", () => {
  const films = filmsOf(
    event,
    [request(1, 2, -15, 45), request(2, 1, -15, 45, "COMPLETE"), request(3, 1, 10, 60)],
    [
      capture("c2", 1, -14),
      capture("other", 3, -5, "RECORDING"),
      capture("later", 1, 5),
      capture("new", 1, null),
    ],
    () => 0,
  );
  expect(films.map(({ channel, state, size }) => [channel, state, size])).toEqual([
    [1, "kept", 5],
    [2, "waiting", null],
    [3, "fetching", 5],
  ]);
  expect(films.map(({ span }) => [span.from - AT, span.to - AT])).toEqual([
    [-14_000, 6000],
    [-15_000, 45_000],
    [-5000, 15_000],
  ]);
  expect(camerasWithout([1, 2, 3, 4], films)).toEqual([4]);
  expect(
    camerasWithout(
      [1],
      filmsOf(event, [request(1, 1, -1, 1, "FAILED")], [], () => 0),
    ),
  ).toEqual([1]);
  expect(filmSpan(AT)).toEqual({ from: AT - 15_000, to: AT + 45_000 });
});

test("films of a camera whose clock is off show the event by true time", () => {
  const films = filmsOf(
    event,
    [request(1, 1, -8, 2), request(2, 2, -8, 2)],
    [capture("late", 1, 4), capture("right", 2, 4)],
    (camera) => (camera === 1 ? -5000 : 0),
  );
  expect(films.map(({ channel, span }) => [channel, span.from - AT, span.to - AT])).toEqual([
    [1, -1000, 19_000],
    [2, -8000, 2000],
  ]);
});

test("files are those of the evidence, the nearest to the event first, each with its way to be played", () => {
  const sent = (seconds: number, fileName: string, change: Partial<Evidence> = {}): Evidence =>
    ({ kind: "photo", fileName, time: text(seconds), channel: 1, cameraTime: null, ...change }) as Evidence;
  const found = filesOf(event, [
    sent(60, "b.jpg"),
    sent(-2, "a.h264", { kind: "film", playUrl: "/api/media/7/a.h264/film" }),
    sent(0, "capture-1.mp4", { kind: "capture" }),
  ]);
  expect(found.map(({ name, kind, playUrl }) => [name, kind, playUrl])).toEqual([
    ["a.h264", "video", "/api/media/7/a.h264/film"],
    ["b.jpg", "image", undefined],
  ]);
});

test("the clock of a camera is wrong where no time zone explains what it shows", () => {
  expect(wrongTime(AT, null)).toBeNull();
  expect(wrongTime(AT, "2026-05-01T22:00:00")).toBeNull();
  expect(wrongTime(AT, "2026-04-29T12:00:00")).toBe(Date.UTC(2026, 3, 29, 12));
  expect(wrongTime(AT, "nonsense")).toBeNull();
});
