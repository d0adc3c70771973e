import { effect } from "@preact/signals";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Device, Event, Position } from "../api/types";
import { applyEvents, clearEvents, MOST_EVENTS, recentEvents } from "./events";
import {
  applyMessage,
  archivedIds,
  changed,
  clearFleet,
  device,
  deviceIds,
  isComplete,
  loadFleet,
  position,
  snapshot,
} from "./fleet";
import { vehicleChoices } from "./vehicleChoices";

const made = (id: number, fields: Partial<Device> = {}) =>
  ({ id, name: `Van ${id}`, uniqueId: `0${id}`, status: "offline", attributes: {}, ...fields }) as Device;
const fix = (deviceId: number, fixTime: string, fields: Partial<Position> = {}) =>
  ({ id: 1, deviceId, fixTime, speed: 0, attributes: {}, ...fields }) as Position;

function answer(devices: Device[]): void {
  const json = { headers: { "Content-Type": "application/json" } };
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify(devices), json));
}

beforeEach(() => clearFleet());
afterEach(() => vi.unstubAllGlobals());

describe("archived vehicles", () => {
  const gone = made(2, { disabled: true, attributes: { "console.archived": true } });
  const off = made(3, { disabled: true });

  test("are told from disabled ones by their attributes, and are in no list until then", async () => {
    const asked: string[] = [];
    vi.stubGlobal("fetch", async (url: string) => {
      asked.push(url);
      const bare = [made(1), { ...gone, attributes: {} }, off];
      const body = url.includes("id=") ? [gone, off] : bare;
      return new Response(JSON.stringify(body), { headers: { "Content-Type": "application/json" } });
    });
    await loadFleet();
    expect(deviceIds.value).toEqual([1]);
    await vi.waitFor(() => expect(archivedIds.value).toEqual([2]));
    expect(deviceIds.value).toEqual([1, 3]);
    expect(asked).toEqual(["/api/devices?excludeAttributes=true", "/api/devices?id=2&id=3"]);
    expect(snapshot().map((each) => each.device.id)).toEqual([1, 3]);
    expect(snapshot(true).map((each) => each.device.id)).toEqual([1, 2, 3]);
    expect(vehicleChoices().map(({ id }) => id)).toEqual([1, 3]);
    // What was chosen before keeps its name.
    expect(vehicleChoices([2]).map(({ name }) => name)).toEqual(["Van 1", "Van 3", "Van 2"]);
  });

  test("are listed as soon as their attributes are known, where nothing else changes", async () => {
    const json = { headers: { "Content-Type": "application/json" } };
    const fetched = vi.fn(async (url: string) => {
      const known = url.includes("id=") ? gone : { ...gone, attributes: {} };
      return new Response(JSON.stringify([known]), json);
    });
    vi.stubGlobal("fetch", fetched);
    await loadFleet();
    await vi.waitFor(() => expect(archivedIds.value).toEqual([2]));
    expect(deviceIds.value).toEqual([]);
  });

  test("come and go with a message, and come back once they are enabled", () => {
    applyMessage({ devices: [made(1), gone] });
    expect(archivedIds.value).toEqual([2]);
    applyMessage({ devices: [{ ...gone, disabled: false }] });
    expect([deviceIds.value, archivedIds.value]).toEqual([[1, 2], []]);
    applyMessage({ devices: [gone] });
    expect([deviceIds.value, archivedIds.value]).toEqual([[1], [2]]);
  });
});

describe("messages", () => {
  test("redraw only what they name", async () => {
    answer([made(1), made(2)]);
    await loadFleet();
    const drawn: string[] = [];
    const ends = [1, 2].map((id) => effect(() => void drawn.push(`${id} ${device(id).value?.status}`)));
    applyMessage({ devices: [made(2, { status: "online" })] });
    expect(drawn).toEqual(["1 offline", "2 offline", "2 online"]);
    for (const end of ends) end();
  });

  test("an older position is skipped, also where only one has milliseconds", () => {
    const place = position(7);
    applyMessage({ positions: [fix(7, "2026-11-22T10:00:00Z", { speed: 1 })] });
    applyMessage({ positions: [fix(7, "2026-11-22T09:59:59.900Z", { speed: 2 })] });
    expect(place.value?.speed).toBe(1);
    applyMessage({ positions: [fix(7, "2026-11-22T10:00:00.250Z", { speed: 3 })] });
    expect(place.value?.speed).toBe(3);
    applyMessage({ positions: [fix(7, "2026-11-22T10:00:00Z", { speed: 4 })] });
    expect(place.value?.speed).toBe(3);
  });

  test("the same position again counts, as after a change of the accumulators", () => {
    applyMessage({ positions: [fix(7, "2026-11-22T10:00:00Z")] });
    applyMessage({ positions: [fix(7, "2026-11-22T10:00:00Z", { attributes: { hours: 5 } })] });
    expect(position(7).value?.attributes.hours).toBe(5);
  });

  test("of an unknown device ask for the list, but not before it has been read", async () => {
    expect(applyMessage({ positions: [fix(3, "2026-11-22T10:00:00Z")] })).toBe(false);
    answer([made(3)]);
    await loadFleet();
    expect(applyMessage({ positions: [fix(3, "2026-11-22T10:00:01Z")] })).toBe(false);
    expect(applyMessage({ positions: [fix(4, "2026-11-22T10:00:00Z")] })).toBe(true);
    expect(applyMessage({ devices: [made(5)] })).toBe(true);
  });

  test("beat once each, and not when they are empty", () => {
    const before = changed.value;
    applyMessage({ positions: [fix(1, "2026-11-22T10:00:00Z"), fix(2, "2026-11-22T10:00:00Z")] });
    applyMessage({});
    applyMessage({ events: [] });
    expect(changed.value).toBe(before + 1);
  });
});

describe("the list", () => {
  test("is in the order of names, numbers within them as numbers", async () => {
    answer([made(1, { name: "Van 10" }), made(2, { name: "van 9" }), made(3, { name: "Bus" })]);
    await loadFleet();
    expect(deviceIds.value).toEqual([3, 2, 1]);
    applyMessage({ devices: [made(3, { name: "Van 11" })] });
    expect(deviceIds.value).toEqual([2, 1, 3]);
  });

  test("stays the same array while nothing is renamed", async () => {
    answer([made(1), made(2)]);
    await loadFleet();
    const before = deviceIds.value;
    applyMessage({ devices: [made(1, { status: "online" })] });
    await loadFleet();
    expect(deviceIds.value).toBe(before);
  });

  test("read again, drops what is gone and keeps attributes that are known", async () => {
    answer([made(1), made(2)]);
    await loadFleet();
    applyMessage({
      devices: [made(2, { attributes: { channels: 4 } })],
      positions: [fix(1, "2026-11-22T10:00:00Z")],
    });
    answer([made(2, { status: "online" })]);
    await loadFleet();
    expect(snapshot()).toEqual([
      { device: made(2, { status: "online", attributes: { channels: 4 } }), position: undefined },
    ]);
    expect([device(1).value, position(1).value, isComplete(2)]).toEqual([undefined, undefined, true]);
  });
});

describe("events", () => {
  const event = (id: number) => ({ id, type: "alarm" }) as Event;

  test("are kept once each, the newest first, and not without end", () => {
    clearEvents();
    applyEvents({ events: [event(1), event(2)] });
    applyEvents({ events: [event(2), event(3)] });
    applyEvents({});
    expect(recentEvents.value.map(({ id }) => id)).toEqual([3, 2, 1]);
    applyEvents({ events: Array.from({ length: MOST_EVENTS }, (_, index) => event(10 + index)) });
    expect(recentEvents.value.length).toBe(MOST_EVENTS);
    expect(recentEvents.value[0]?.id).toBe(9 + MOST_EVENTS);
  });
});
