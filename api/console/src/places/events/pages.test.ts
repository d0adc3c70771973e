import { expect, test } from "vitest";
import type { ListedEvent } from "../../api/types";
import { eventOf } from "../../testing/records";
import { extended, linesOf, MOST, PAGE, renewed } from "./pages";

const event = (id: number, second = id): ListedEvent =>
  eventOf(id, { eventTime: new Date(second * 1000).toISOString(), deviceId: 1 });
/** Events with these numbers, the highest first. */
const page = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => event(from - index));
const ids = (events: readonly ListedEvent[]) => events.map(({ id }) => id);

test("an older page goes below, and a page that is not full is the last", () => {
  const first = extended({ events: [], more: true }, page(300, PAGE));
  expect(first.more).toBe(true);
  const second = extended(first, page(201, 11));
  expect(second.events.length).toBe(PAGE + 10);
  expect(second.more).toBe(false);
  expect(ids(second.events)).toEqual(ids(page(300, PAGE + 10)));
});

test("a list ends with so many", () => {
  let list = extended({ events: [], more: true }, page(9000, PAGE));
  for (let last = 9000 - PAGE; list.more; last -= PAGE) list = extended(list, page(last, PAGE));
  expect(list.events.length).toBe(MOST);
});

test("what is new, or came late, is sorted in", () => {
  const list = extended({ events: [], more: true }, [event(5, 50), event(4, 40), event(3, 30)]);
  expect(renewed(list, [event(5, 50), event(4, 40)])).toBe(list);
  const next = renewed(list, [event(7, 60), event(5, 50), event(6, 45), event(4, 40)]);
  expect(ids(next.events)).toEqual([7, 5, 6, 4, 3]);
  expect(next.more).toBe(false);
});

test("where a page does not reach down to what is known, there may be others between them", () => {
  const list = extended({ events: [], more: true }, page(50, 50));
  const next = renewed(list, page(1000, PAGE));
  expect(ids(next.events)).toEqual(ids(page(1000, PAGE)));
  expect(next.more).toBe(true);
});

test("files that a vehicle sent one after the other are one row", () => {
  const sent = (id: number, type: string, deviceId: number): ListedEvent => ({
    ...event(id),
    type,
    deviceId,
  });
  const lines = linesOf([
    sent(9, "media", 1),
    sent(8, "media", 1),
    sent(7, "media", 2),
    sent(6, "alarm", 2),
    sent(5, "alarm", 2),
    sent(4, "media", 2),
  ]);
  expect(lines.map((line) => [line.event.id, line.others])).toEqual([
    [9, 1],
    [7, 0],
    [6, 0],
    [5, 0],
    [4, 0],
  ]);
});

test("answers to commands that say the same are one row", () => {
  const answer = (id: number, result: string) => ({
    ...event(id),
    type: "commandResult",
    attributes: { result },
  });
  const lines = linesOf([answer(9, "ok"), answer(8, "ok"), answer(7, "refused"), answer(6, "ok")]);
  expect(lines.map((line) => [line.event.id, line.others])).toEqual([
    [9, 1],
    [7, 0],
    [6, 0],
  ]);
});
