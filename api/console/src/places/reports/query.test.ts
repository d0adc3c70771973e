import { expect, test } from "vitest";
import { KIND_NAMES, kindOf } from "./kinds";
import { AGAINST, type Asked, addressOf, askedOf, missing, otherSpan, requestOf, withKind } from "./query";

const ZONE = "Europe/Berlin";
const at = (text: string) => Date.parse(text);
const ofAddress = (address: string, kinds: readonly string[] = []): Asked => {
  const url = new URL(address, "https://fleet.example");
  return askedOf(url.pathname.split("/")[2] as Asked["kind"], url.searchParams, kinds);
};

test("an address says all that is asked for, and is read again", () => {
  const asked: Asked = {
    ...ofAddress("/reports/trips"),
    deviceIds: [3, 1],
    groupIds: [7],
    span: { from: "now-1w/w", to: "now-1w/w" },
    group: "driver",
    sort: { key: "distance", descending: true },
    against: "year",
  };
  const address = addressOf(asked);
  expect(address).toBe(
    "/reports/trips?deviceId=3&deviceId=1&groupId=7&from=now-1w/w&to=now-1w/w&by=driver&sort=-distance&against=year",
  );
  expect(ofAddress(address)).toEqual(asked);
});

test("options stand in the address of the kinds that have them", () => {
  const asked = ofAddress(
    "/reports/presence?latitude=52.5&longitude=13.4&radius=99999&daily=true&geofenceId=4&attribute=fuel",
  );
  expect(asked).toMatchObject({ place: { latitude: 52.5, longitude: 13.4 }, radius: 5000 });
  expect(addressOf(asked)).toContain("latitude=52.5&longitude=13.4&radius=5000");
  expect(addressOf(asked)).not.toContain("daily");
  expect(addressOf(withKind(asked, "summary"))).toContain("daily=true");
  expect(addressOf(withKind(asked, "geofences"))).toContain("geofenceId=4");
  expect(addressOf(withKind(asked, "sensors"))).toContain("attribute=fuel");
  expect(addressOf(withKind({ ...asked, kinds: ["alarm:sos", "ignitionOn"] }, "events"))).toContain(
    "type=alarm&type=ignitionOn&alarm=sos",
  );
});

test("what an address says wrongly does not count", () => {
  const asked = ofAddress(
    "/reports/stops?deviceId=x&deviceId=-1&deviceId=2&deviceId=2&by=driver&against=ever&latitude=91&longitude=0&sort=",
  );
  expect(asked).toMatchObject({ deviceIds: [2], group: null, against: null, place: null, sort: null });
});

test("another kind keeps who and when, and what it has as well", () => {
  const asked = ofAddress(
    "/reports/trips?deviceId=2&from=now-1d/d&to=now&by=driver&sort=maxSpeed&against=week",
  );
  expect(withKind(asked, "stops")).toMatchObject({
    kind: "stops",
    deviceIds: [2],
    group: null,
    sort: null,
    against: "week",
  });
  expect(withKind(asked, "devices").against).toBeNull();
});

test("a request ends before its span does, and is none while something is missing", () => {
  const asked = ofAddress("/reports/trips?deviceId=2");
  const span = { from: at("2026-05-01T00:00:00Z"), to: at("2026-05-02T00:00:00Z") };
  expect(requestOf(asked, span, ZONE)).toEqual({
    deviceId: [2],
    groupId: [],
    from: "2026-05-01T00:00:00Z",
    to: "2026-05-01T23:59:59.999Z",
    timezone: ZONE,
  });
  expect(requestOf(asked, null, ZONE)).toBeNull();
  expect(missing(withKind(asked, "geofences"))).toBe("zones");
  expect(missing(withKind(asked, "presence"))).toBe("place");
  expect(requestOf(withKind(asked, "devices"), null, ZONE)).toEqual({
    deviceId: [2],
    groupId: [],
    timezone: ZONE,
  });
});

test.each([
  ["before", "2026-03-24T23:00:00Z", "2026-03-28T23:00:00Z"],
  ["week", "2026-03-21T23:00:00Z", "2026-03-25T23:00:00Z"],
  ["month", "2026-02-28T23:00:00Z", "2026-03-04T23:00:00Z"],
  ["year", "2025-03-28T23:00:00Z", "2025-04-01T22:00:00Z"],
] as const)("whole days stay whole days %s, over changes of the clocks", (against, from, to) => {
  // From 29 March to 1 April; the first has 23 hours.
  const span = { from: at("2026-03-28T23:00:00Z"), to: at("2026-04-01T22:00:00Z") };
  const other = otherSpan(span, against, ZONE);
  expect([other.from, other.to].map((each) => new Date(each).toISOString())).toEqual(
    [from, to].map((each) => each.replace("Z", ".000Z")),
  );
});

test("each kind names columns that it has", () => {
  for (const name of KIND_NAMES) {
    const kind = kindOf(name);
    const totals = kind.columns.filter(({ total }) => total).map(({ key }) => key);
    expect(totals, name).toEqual(expect.arrayContaining([...kind.charts, ...kind.compared]));
    expect(new Set(kind.columns.map(({ key }) => key)).size, name).toBe(kind.columns.length);
  }
  expect(AGAINST).toHaveLength(4);
});
