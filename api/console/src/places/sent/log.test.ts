import { expect, test } from "vitest";
import { commandOf } from "../../testing/records";
import { addressOf, type Filters, filtersOf, merged, requestOf } from "./log";

const ALL: Filters = { deviceId: null, userId: null, states: [], days: 0 };
const ids = (items: readonly { id: number }[]) => items.map(({ id }) => id);

test("filters stand in the address and in what is asked for", () => {
  const filters: Filters = { deviceId: 2, userId: 5, states: ["SENT", "UNKNOWN"], days: 7 };
  const address = addressOf(filters);
  expect(address).toBe("/commands?deviceId=2&userId=5&state=sent,unknown&days=7");
  expect(filtersOf(new URLSearchParams(address.split("?")[1]))).toEqual(filters);
  expect(filtersOf(new URLSearchParams("deviceId=x&state=lost&days=3"))).toEqual(ALL);
  expect(addressOf(ALL)).toBe("/commands");
  expect(requestOf(filters, Date.parse("2026-06-15T12:00:00Z"))).toEqual({
    deviceId: 2,
    userId: 5,
    state: ["SENT", "UNKNOWN"],
    from: "2026-06-08T12:00:00.000Z",
  });
  expect(requestOf(ALL, 0)).toEqual({});
});

test("what is told takes its place in the list", () => {
  const items = [commandOf(9, { state: "QUEUED" }), commandOf(7)];
  const told = [commandOf(12), commandOf(9, { state: "SENT" }), commandOf(3)];
  const found = merged(items, told, ALL);
  // The third stands on a page that was not read.
  expect(ids(found)).toEqual([12, 9, 7]);
  expect(found[1]?.state).toBe("SENT");
  expect(ids(merged(items, told, { ...ALL, states: ["QUEUED", "ANSWERED"] }))).toEqual([7]);
  expect(ids(merged([], told, { ...ALL, deviceId: 8 }))).toEqual([]);
  expect(ids(merged([], [commandOf(1, { userId: 5 }), commandOf(2)], { ...ALL, userId: 5 }))).toEqual([1]);
});
