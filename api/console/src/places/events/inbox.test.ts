import { expect, test } from "vitest";
import { eventOf } from "../../testing/records";
import { matching, selectedWith } from "./inbox";

const NONE = { deviceId: null, groupId: null, kinds: [] };
const GROUPS = [
  { id: 3, groupId: 0, name: "North", attributes: {} },
  { id: 4, groupId: 3, name: "Depot", attributes: {} },
];

test("filters leave vehicles, groups with those below them, and kinds", () => {
  const sos = eventOf(1, { deviceId: 1, attributes: { alarm: "sos" } });
  const door = eventOf(2, { deviceId: 2, attributes: { alarm: "door" } });
  const fast = eventOf(3, { deviceId: 2, type: "deviceOverspeed" });
  const of = (filters: Partial<Parameters<typeof matching>[1]>) =>
    matching([sos, door, fast], { ...NONE, ...filters }, GROUPS, (id) => (id === 1 ? 4 : 0)).map(
      ({ id }) => id,
    );
  expect(of({})).toEqual([1, 2, 3]);
  expect(of({ deviceId: 2 })).toEqual([2, 3]);
  expect(of({ groupId: 3 })).toEqual([1]);
  expect(of({ kinds: ["alarm"] })).toEqual([1, 2]);
  expect(of({ kinds: ["alarm:door", "deviceOverspeed"] })).toEqual([2, 3]);
});

test("a row is selected or not, and a range is added", () => {
  const ids = [9, 8, 7, 6];
  const one = selectedWith(new Set(), ids, 1, null);
  expect([...one]).toEqual([8]);
  expect([...selectedWith(one, ids, 1, null)]).toEqual([]);
  expect([...selectedWith(one, ids, 3, 1)]).toEqual([8, 7, 6]);
  expect([...selectedWith(one, ids, 0, 1)].sort()).toEqual([8, 9]);
  expect(selectedWith(one, ids, 4, null)).toBe(one);
});
