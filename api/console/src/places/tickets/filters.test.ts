import { expect, test } from "vitest";
import { ticketOf } from "../../testing/records";
import { placed } from "./board";
import { undoing } from "./changes";
import { following } from "./company";
import { addressOf, filtersOf, NO_FILTERS, requestOf, setIn, toggled } from "./filters";

const read = (text: string) => filtersOf(new URL(text, "http://x").searchParams);

test("filters stand in the address, and are read from it", () => {
  const filters = {
    ...NO_FILTERS,
    companyId: 2,
    references: { assigneeId: [0, 7], statusId: [3] },
    kinds: ["open"],
    open: null,
    overdue: true,
    dueWithin: 60,
    from: "2026-10-01T00:00:00Z",
    to: "2026-11-01T00:00:00+01:00",
    zones: ["North & South"],
    includeChildren: false,
    keyword: "lamp",
    sort: "level" as const,
  };
  expect(read(addressOf(filters))).toEqual(filters);
  expect(addressOf(NO_FILTERS)).toBe("/tickets/list");
  expect(read("/tickets/list")).toEqual(NO_FILTERS);
  expect(setIn(filters)).toBe(10);
});

test("what an address says wrongly does not count", () => {
  expect(
    read("/tickets/list?assigneeId=x&kind=gone&sort=size&dueWithin=-5&open=maybe&from=yesterday&to="),
  ).toEqual(NO_FILTERS);
});

test("a request says when, and kinds in place of what is worked on", () => {
  const now = Date.parse("2026-10-16T15:00:00Z");
  expect(requestOf({ ...NO_FILTERS, dueWithin: 60 }, 4, now)).toMatchObject({
    companyId: 4,
    open: true,
    dueBefore: "2026-10-16T16:00:00.000Z",
  });
  expect(requestOf({ ...NO_FILTERS, kinds: ["closed"] }, 4, now)).not.toHaveProperty("open");
  expect(requestOf({ ...NO_FILTERS, to: "2026-10-01T00:00:00Z", zones: ["North"] }, 4, now)).toMatchObject({
    to: "2026-10-01T00:00:00Z",
    zone: ["North"],
  });
});

test("a filter is set and taken away", () => {
  const set = toggled(NO_FILTERS, "teamId", 3);
  expect(set.references).toEqual({ teamId: [3] });
  expect(toggled(set, "teamId", 3).references).toEqual({});
});

test("statuses that may follow are those of `next`, without it any", () => {
  const status = (id: number, attributes = {}) => ({
    id,
    companyId: 1,
    name: `S${id}`,
    kind: "open",
    sortOrder: id,
    disabled: id === 4,
    attributes,
  });
  const all = [status(1, { next: [3] }), status(2), status(3, { next: [] }), status(4)];
  expect(following(all, 1).map(({ id }) => id)).toEqual([3]);
  expect(following(all, 2).map(({ id }) => id)).toEqual([1, 3]);
  expect(following(all, 3)).toEqual([]);
});

test("a column shows what was moved to it, and not what was moved away", () => {
  const [first, second] = [ticketOf(1, { statusId: 5 }), ticketOf(2, { statusId: 5 })];
  const moved = new Map([
    [1, { ...first, statusId: 6, version: 2 }],
    [3, ticketOf(3, { statusId: 5, version: 4 })],
  ]);
  const { rows, more } = placed([first, second], moved, 5);
  expect(rows.map(({ id }) => id)).toEqual([3, 2]);
  expect(more).toBe(0);
  // What the list says later goes first.
  expect(placed([{ ...first, version: 3 }], moved, 5).rows.map(({ id }) => id)).toEqual([3, 1]);
});

test("a change is undone by what was before", () => {
  const before = ticketOf(1, { statusId: 5, assigneeId: 7 });
  expect(undoing(before, { kind: "move", statusId: 6 })).toEqual({ kind: "move", statusId: 5 });
  expect(undoing(before, { kind: "edit", fields: { assigneeId: 9 } })).toEqual({
    kind: "edit",
    fields: { assigneeId: 7 },
  });
});
