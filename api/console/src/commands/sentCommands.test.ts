import { expect, test } from "vitest";
import { repliedTo, type Sent } from "./sentCommands";

const entry = (id: number, changes: Partial<Sent> = {}): Sent => ({
  id,
  deviceId: 1,
  name: "positionSingle",
  at: id,
  outcome: "sent",
  byText: false,
  queuedId: 0,
  problem: null,
  replies: [],
  ...changes,
});
const answered = { replies: [{ at: 9, text: "ok" }] };

test("a reply belongs to the oldest command that was handed over and not answered", () => {
  expect(repliedTo([entry(3), entry(2), entry(1, answered)], 1)?.id).toBe(2);
  expect(repliedTo([entry(3), entry(2, { outcome: "kept" })], 1)?.id).toBe(3);
});

test("else to one that was kept, else to the newest", () => {
  expect(repliedTo([entry(3, answered), entry(2, { outcome: "kept" })], 1)?.id).toBe(2);
  expect(repliedTo([entry(3, answered), entry(2, answered)], 1)?.id).toBe(3);
});

test("never to one that was refused, went by text message, or to another vehicle", () => {
  const others = [entry(4, { outcome: "refused" }), entry(3, { byText: true }), entry(2, { deviceId: 2 })];
  expect(repliedTo(others, 1)).toBeUndefined();
});
