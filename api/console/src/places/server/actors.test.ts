import { expect, test } from "vitest";
import { type Actor, actorRows, lookAt } from "./actors";

function actorOf(path: string, fields: Partial<Actor> = {}): Actor {
  return {
    path,
    kind: "device",
    state: "running",
    depth: 0,
    size: 1000,
    handled: 0,
    restarts: 0,
    last_error: "",
    alive: 1,
    age: 5,
    children: [],
    ...fields,
  };
}

const devices = (fields: Partial<Actor> = {}) =>
  actorOf("system/devices", {
    alive: 30,
    children: [actorOf("system/devices/1"), actorOf("system/devices/2", fields)],
  });
const tree = (children: readonly Actor[]) => [actorOf("system", { kind: "supervisor", children })];
const NONE = { turned: new Set<string>(), troubled: false, first: new Map(), before: new Map() };
const names = (rows: readonly { name: string; level: number }[]) =>
  rows.map(({ name, level }) => `${level} ${name}`);

test("supervisors are open, kinds with many actors are not until they are turned", () => {
  const found = tree([actorOf("system/directory"), devices()]);
  expect(names(actorRows(found, NONE))).toEqual(["0 system", "1 directory", "1 devices"]);
  const opened = actorRows(found, { ...NONE, turned: new Set(["system/devices"]) });
  expect(names(opened)).toEqual(["0 system", "1 directory", "1 devices", "2 1", "2 2"]);
  expect(opened.map(({ left }) => left)).toEqual([0, 0, 28, 0, 0]);
  expect(names(actorRows(found, { ...NONE, turned: new Set(["system"]) }))).toEqual(["0 system"]);
});

test("trouble is shown with what stands above it, and nothing else", () => {
  const found = tree([actorOf("system/directory"), devices({ last_error: "ValueError: x" })]);
  const rows = actorRows(found, { ...NONE, troubled: true });
  expect(names(rows)).toEqual(["0 system", "1 devices", "2 2"]);
  expect(actorRows(tree([devices()]), { ...NONE, troubled: true })).toEqual([]);
});

test("what waits more than a look ago, and restarts since the first look, are told", () => {
  const first = lookAt(tree([devices({ depth: 1, restarts: 4 })]));
  const before = lookAt(tree([devices({ depth: 3, restarts: 5 })]));
  const rows = actorRows(tree([devices({ depth: 4, restarts: 6 })]), {
    ...NONE,
    turned: new Set(["system/devices"]),
    first,
    before,
  });
  expect(rows.map(({ grew, restarted }) => [grew, restarted])).toEqual([
    [false, 0],
    [false, 0],
    [false, 0],
    [true, 2],
  ]);
});
