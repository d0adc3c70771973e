import { expect, test } from "vitest";
import type { Capture, Footage, Playback, Recording } from "../../api/types";
import { type CameraFacts, cameraLanes, cameraOf, laneOf } from "./lanes";

const T = Date.parse("2026-05-01T14:00:00Z");
const time = (seconds: number) => new Date(T + seconds * 1000).toISOString();

const recording = (channel: number, from: number, to: number, fields: Partial<Recording> = {}) =>
  ({
    channel,
    startTime: time(from),
    endTime: time(to),
    alarmFlag: 0,
    streamType: 1,
    ...fields,
  }) as Recording;
const capture = (channel: number, fields: Partial<Capture> = {}) =>
  ({
    id: "a",
    channel,
    fileName: "a.mp4",
    url: "/api/media/1/a.mp4",
    status: "COMPLETE",
    ...fields,
  }) as Capture;

const none: CameraFacts = {
  cameras: [1, 2],
  clockOf: () => 0,
  labelOf: (camera) => `camera ${camera}`,
  recordings: [],
  playbacks: [],
  captures: [],
  footage: [],
  arrived: new Map(),
};
const played: string[] = [];
const acts = {
  text: (key: string) => key,
  lengthOf: () => "1 min",
  watch: (camera: number) => void played.push(`watch ${camera}`),
  play: ({ id }: Capture) => void played.push(`play ${id}`),
};
const lanes = (facts: Partial<CameraFacts>) => cameraLanes({ ...none, ...facts }, acts);

test("each camera has a lane, also where nothing is known", () => {
  expect(lanes({}).map(({ id, blocks }) => [id, blocks.length])).toEqual([
    ["camera-1", 0],
    ["camera-2", 0],
  ]);
  expect([cameraOf(laneOf(12)), cameraOf("trips")]).toEqual([12, null]);
});

test("what the vehicle has is hatched, low for the sub-stream, and marked with an alarm", () => {
  const files = [
    recording(1, 0, 60),
    recording(1, 60, 120, { alarmFlag: 2, streamType: 2 }),
    recording(2, 0, 60),
  ];
  const [first] = lanes({ recordings: files });
  expect(first?.blocks).toMatchObject([
    { from: T, to: T + 60_000, kind: "recording", hatched: true, height: 1, tone: "offline" },
    { kind: "recording", hatched: true, height: 0.5, tone: "bad" },
  ]);
});

test("what arrived is told by the player, and before that by the server", () => {
  const playback = { channel: 1, startTime: time(0), arrivedTo: time(30), seconds: 31 } as Playback;
  const [told] = lanes({ playbacks: [playback] });
  expect(told?.blocks).toMatchObject([{ from: T, to: T + 30_000, kind: "arrived" }]);
  const sought = { ...playback, arrivedTo: time(600), seconds: 40 };
  expect(lanes({ playbacks: [sought] })[0]?.blocks[0]).toMatchObject({ from: T + 560_000, to: T + 600_000 });
  const spans = [{ from: T, to: T + 5000 }];
  const [known] = lanes({ playbacks: [playback], arrived: new Map([[1, spans]]) });
  expect(known?.blocks).toMatchObject([{ from: T, to: T + 5000 }]);
  known?.blocks[0]?.act?.();
  expect(played.pop()).toBe("watch 1");
});

test("what is kept can be played, what failed is not shown, what is wanted is", () => {
  const span = { from: T, to: T + 60_000 };
  const footage = [
    { channel: 2, status: "WAITING", startTime: time(0), endTime: time(9) },
    { channel: 2, status: "EXPIRED", startTime: time(0), endTime: time(9) },
  ] as Footage[];
  const [first, second] = lanes({
    captures: [
      { capture: capture(1), span },
      { capture: capture(1, { status: "FAILED" }), span },
      { capture: capture(1, { status: "RECORDING", url: null }), span },
    ],
    footage,
  });
  expect(first?.blocks.map(({ kind, act }) => [kind, act !== undefined])).toEqual([
    ["kept", true],
    ["kept", false],
  ]);
  first?.blocks[0]?.act?.();
  expect(played.pop()).toBe("play a");
  expect(second?.blocks).toMatchObject([{ kind: "wanted", to: T + 9000 }]);
});

test("where the clock of a camera is moved, all that bears its times is moved on its lane", () => {
  const span = { from: T, to: T + 60_000 };
  const facts = {
    clockOf: (camera: number) => (camera === 1 ? -2500 : 0),
    recordings: [recording(1, 0, 60), recording(2, 0, 60)],
    playbacks: [{ channel: 1, startTime: time(0), arrivedTo: time(30), seconds: 31 } as Playback],
    captures: [{ capture: capture(1), span }],
    footage: [{ channel: 1, status: "WAITING", startTime: time(0), endTime: time(9) } as Footage],
  };
  const [first, second] = lanes(facts);
  expect(new Set(first?.blocks.map(({ from }) => from))).toEqual(new Set([T - 2500]));
  expect(first?.blocks.map(({ kind, to }) => [kind, to])).toEqual([
    ["recording", T + 57_500],
    ["wanted", T + 6500],
    ["arrived", T + 27_500],
    ["kept", T + 57_500],
  ]);
  expect(second?.blocks).toMatchObject([span]);
  // What the player says is moved already.
  const arrived = lanes({ ...facts, arrived: new Map([[1, [span]]]) })[0];
  expect(arrived?.blocks.find(({ kind }) => kind === "arrived")).toMatchObject(span);
});
