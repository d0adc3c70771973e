import { expect, test } from "vitest";
import { localText, readLocal } from "./local";

const ZONE = "Europe/Lisbon";

test("a minute is written and read in the zone of the reader", () => {
  const at = Date.parse("2026-05-01T13:32:20Z");
  expect(localText(at, ZONE)).toBe("2026-05-01T14:32");
  expect(readLocal("2026-05-01T14:32", ZONE)).toBe(Date.parse("2026-05-01T13:32:00Z"));
  expect(readLocal("2026-05-01T14:32:10", ZONE)).toBe(Date.parse("2026-05-01T13:32:00Z"));
});

test("a time that the clock change skips counts as that long after it", () => {
  expect(readLocal("2026-03-29T01:30", ZONE)).toBe(Date.parse("2026-03-29T01:30:00Z"));
});

test("an empty picker is no time", () => {
  expect(readLocal("", ZONE)).toBeNull();
});
