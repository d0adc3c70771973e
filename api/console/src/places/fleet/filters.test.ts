import { expect, test } from "vitest";
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
const shows = (keyword: string) => matcher(keyword, null)(device({}));

test("names and numbers that hold all words are found", () => {
  expect(shows("")).toBe(true);
  expect(shows("12 van")).toBe(true);
  expect(shows("013")).toBe(true);
  expect(shows("van 13x")).toBe(false);
  expect(matcher("van", new Set([3]))(device({ groupId: 3 }))).toBe(true);
  expect(matcher("van", new Set([3]))(device({ groupId: 4 }))).toBe(false);
});

test("addresses have states, or none", () => {
  const status = (query: string) => filtersOf(new URLSearchParams(query)).status;
  expect(status("status=moving")).toBe("moving");
  expect(status("status=unknown")).toBe("silent");
  expect(status("status=nonsense")).toBe("");
  expect(status("status=toString")).toBe("");
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
