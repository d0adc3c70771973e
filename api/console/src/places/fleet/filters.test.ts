import { describe, expect, test } from "vitest";
import type { Device, Position } from "../../api/types";
import { filtersOf, groupsBelow, hasPlace, matcher } from "./filters";

const device = (fields: Partial<Device>): Device => ({
  id: 1,
  name: "Van 12",
  uniqueId: "0139",
  status: "online",
  lastUpdate: null,
  positionId: 0,
  groupId: 0,
  calendarId: 0,
  phone: null,
  model: null,
  contact: null,
  category: null,
  disabled: false,
  expirationTime: null,
  attributes: {},
  ...fields,
});
const position = (fields: Partial<Position>) =>
  ({ latitude: 1, longitude: 1, speed: 0, attributes: {}, ...fields }) as Position;
const shows = (query: string, one: Device, at?: Position) =>
  matcher(filtersOf(new URLSearchParams(query)), null)(one, at);

describe("the list shows", () => {
  test("all without filters", () => expect(shows("", device({}))).toBe(true));

  test("names and numbers that hold all words", () => {
    expect(shows("keyword=12+van", device({}))).toBe(true);
    expect(shows("keyword=013", device({}))).toBe(true);
    expect(shows("keyword=van+13x", device({}))).toBe(false);
  });

  test("a status", () => {
    expect(shows("status=offline", device({}))).toBe(false);
    expect(shows("status=online", device({}))).toBe(true);
    expect(shows("status=nonsense", device({}))).toBe(true);
  });

  test("what moves only while it is online", () => {
    expect(shows("status=moving", device({}), position({ speed: 20 }))).toBe(true);
    expect(shows("status=moving", device({ status: "offline" }), position({ speed: 20 }))).toBe(false);
    expect(shows("status=moving", device({}), position({ speed: 20, attributes: { motion: false } }))).toBe(
      false,
    );
    expect(shows("status=standing", device({}), position({}))).toBe(true);
    expect(shows("status=standing", device({}))).toBe(false);
  });
});

test("a group holds the groups below it, also in a circle", () => {
  const groups = [
    { id: 1, groupId: 0 },
    { id: 2, groupId: 3 },
    { id: 3, groupId: 1 },
    { id: 4, groupId: 5 },
    { id: 5, groupId: 4 },
  ];
  expect([...groupsBelow(groups, 1)].sort()).toEqual([1, 2, 3]);
  expect([...groupsBelow(groups, 4)].sort()).toEqual([4, 5]);
});

test("0°, 0° is no place", () => {
  expect(hasPlace(position({ latitude: 0, longitude: 0 }))).toBe(false);
  expect(hasPlace(position({ latitude: 0, longitude: 5 }))).toBe(true);
  expect(hasPlace(undefined)).toBe(false);
});
