import { expect, test } from "vitest";
import { addressOf, filtersOf, isOpen, requestOf } from "./filters";

const NOON = Date.UTC(2026, 4, 1, 12);
const of = (query: string) => filtersOf(new URLSearchParams(query));

test("an address and its filters are the same", () => {
  for (const query of [
    "",
    "deviceId=12&type=alarm&type=media&alarm=sos",
    "groupId=3&from=now-1d/d&to=now-1d/d",
    "state=ALL",
    "deviceId=12&state=DISMISSED",
    "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z",
  ]) {
    expect(addressOf("/events", of(query))).toBe(query ? `/events?${query}` : "/events");
  }
  expect(addressOf("/events", of("deviceId=x&groupId=-1&from=now"))).toBe("/events");
  expect(addressOf("/vehicles/12/events", of("deviceId=12&type=media"))).toBe(
    "/vehicles/12/events?type=media",
  );
});

test("the server is asked for instants, and not for more than 31 days", () => {
  expect(requestOf(of("type=alarm&alarm=sos"), NOON, "UTC")).toEqual({
    from: "2026-04-30T12:00:00.000Z",
    to: "2026-05-01T12:00:00.000Z",
    deviceId: null,
    groupId: null,
    state: "OPEN",
    type: ["alarm"],
    alarm: ["sos"],
  });
  expect(requestOf(of("from=now-31d&to=now"), NOON, "UTC")).not.toBeNull();
  expect(requestOf(of("from=now-32d&to=now"), NOON, "UTC")).toBeNull();
  expect(requestOf(of("from=now&to=now-1d"), NOON, "UTC")).toBeNull();
});

test("an address without a word is about what waits, and one with a span about all", () => {
  expect(of("").state).toBe("OPEN");
  expect(of("from=now-2d&to=now").state).toBe("ALL");
  expect(of("from=now-2d&to=now&state=DISMISSED").state).toBe("DISMISSED");
  // What waits is of any age.
  expect(addressOf("/events", of("from=now-2d&to=now&state=OPEN"))).toBe("/events");
  const ofVehicle = { ...of("from=now-2d&to=now"), deviceId: 12 };
  expect(addressOf("/vehicles/12/events", ofVehicle)).toBe("/vehicles/12/events?from=now-2d&to=now");
});

test("new events belong to a span that ends with the present", () => {
  expect(isOpen(of(""))).toBe(true);
  expect(isOpen(of("from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"))).toBe(false);
});
