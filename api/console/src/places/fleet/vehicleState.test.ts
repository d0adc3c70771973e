import { expect, test } from "vitest";
import { deviceOf, positionOf } from "../../testing/records";
import { vehicleState } from "./vehicleState";

const NOON = Date.parse("2026-06-15T12:00:00Z");
const ago = (seconds: number) => new Date(NOON - seconds * 1000).toISOString();
const online = deviceOf(1, { status: "online", lastUpdate: ago(1) });
const state = (fields: object, at?: object) =>
  vehicleState({ ...online, ...fields }, at && positionOf(1, { serverTime: ago(1), ...at }), NOON);

test("a vehicle that is online moves or stands, by its device or else its speed", () => {
  expect(state({}, { speed: 20 })).toBe("moving");
  expect(state({}, { speed: 20, attributes: { motion: false } })).toBe("standing");
  expect(state({}, {})).toBe("standing");
  expect(state({})).toBe("online");
});

test("who moved and was not heard of for two minutes is not said to move", () => {
  expect(state({}, { speed: 20, serverTime: ago(119) })).toBe("moving");
  expect(state({}, { speed: 20, serverTime: ago(120) })).toBe("silent");
  expect(state({}, { speed: 20, fixTime: ago(3600) })).toBe("silent");
  // What stands reports seldom.
  expect(state({}, { serverTime: ago(3000) })).toBe("standing");
});

test("a device that is not online is silent, offline, or was never heard of", () => {
  expect(state({ status: "unknown" }, { speed: 20 })).toBe("silent");
  expect(state({ status: "offline" }, { speed: 20 })).toBe("offline");
  expect(state({ status: "offline", lastUpdate: null })).toBe("never");
  expect(state({ status: "unknown", lastUpdate: null })).toBe("never");
});
