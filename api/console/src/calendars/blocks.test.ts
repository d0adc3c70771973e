import { describe, expect, test } from "vitest";
import {
  areWhole,
  type Block,
  type Blocks,
  blocksOf,
  calendarText,
  decoded,
  encoded,
  isWhole,
} from "./blocks";

const OFFICE: Block = { days: [0, 1, 2, 3, 4], from: "09:00", to: "17:30" };
const NIGHT: Block = { days: [6, 5], from: "22:00", to: "06:00" };
const week = (...blocks: Block[]): Blocks => ({ blocks, exceptions: [], zone: "Europe/Lisbon" });

/** Numbers below a limit, the same each time (xorshift32). */
function randomly(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

function randomBlocks(seed: number): Blocks {
  const random = randomly(seed);
  const time = () => `${String(random(24)).padStart(2, "0")}:${String(random(60)).padStart(2, "0")}`;
  const days = () => [0, 1, 2, 3, 4, 5, 6].filter((day) => random(2) === 1 || day === seed % 7);
  const blocks = Array.from({ length: random(5) }, () => ({ days: days(), from: time(), to: time() }));
  const dates = new Set(
    Array.from({ length: random(6) }, () =>
      new Date(Date.UTC(2024, 0, 1) + random(4000) * 86_400_000).toISOString().slice(0, 10),
    ),
  );
  const exceptions = [...dates].sort().map((date) => ({
    date,
    // Without blocks there is nothing that a day could be closed against.
    open: blocks.length === 0 || random(2) === 1 ? { from: time(), to: time() } : null,
  }));
  const zones = ["", "UTC", "America/Sao_Paulo", "Europe/Berlin", "Australia/Lord_Howe"];
  return { blocks, exceptions, zone: zones[random(zones.length)] ?? "" };
}

describe("blocks", () => {
  test("are written as events that recur weekly, in local times of their zone", () => {
    const text = calendarText(week(OFFICE, NIGHT));
    expect(text).toContain("X-WR-TIMEZONE:Europe/Lisbon\r\n");
    expect(text).toContain("DTSTART:20240101T090000\r\nDTEND:20240101T173000\r\n");
    expect(text).toContain("RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\r\n");
    // From the first of its days on, and over midnight.
    expect(text).toContain("DTSTART:20240106T220000\r\nDTEND:20240107T060000\r\n");
    expect(text).toContain("BYDAY=SA,SU\r\n");
  });

  test("have days without them, and days with other times", () => {
    const exceptions = [
      { date: "2026-12-25", open: null },
      { date: "2026-12-24", open: { from: "09:00", to: "12:00" } },
    ];
    const text = calendarText({ ...week(OFFICE), exceptions });
    expect(text).toContain("EXDATE:20261224T090000\r\nEXDATE:20261225T090000\r\nEND:VEVENT\r\n");
    expect(text).toContain("DTSTART:20261224T090000\r\nDTEND:20261224T120000\r\nEND:VEVENT\r\n");
  });

  test("and their text say the same, whatever they are", () => {
    for (let seed = 1; seed <= 500; seed += 1) {
      const blocks = randomBlocks(seed * 2654435761);
      const text = calendarText(blocks);
      expect(blocksOf(text), `seed ${seed}`).toEqual(blocks);
      expect(blocksOf(decoded(encoded(text)))).toEqual(blocks);
      // What is stored needs no line longer than the standard allows.
      expect(text.split("\r\n").every((line) => line.length <= 75)).toBe(true);
    }
  });

  test("of a text with any line changed, added or left out are none, or say the same anew", () => {
    for (let seed = 1; seed <= 100; seed += 1) {
      const text = calendarText(randomBlocks(seed * 40503));
      const lines = text.split("\r\n");
      const at = randomly(seed)(lines.length - 1);
      for (const other of [
        lines.toSpliced(at, 1),
        lines.toSpliced(at, 0, "X-NOTE:mine"),
        lines.toSpliced(at, 1, `${lines[at]};X=1`),
      ]) {
        const changed = other.join("\r\n");
        const found = blocksOf(changed);
        if (found) expect(calendarText(found)).toBe(changed);
      }
    }
  });

  test("of a text that says more are none, so that it is not written over", () => {
    const text = calendarText(week(OFFICE));
    expect(blocksOf(text.replace("BYDAY=MO,TU,WE,TH,FR", "BYDAY=MO;UNTIL=20250101"))).toBeNull();
    expect(blocksOf(text.replace("END:VEVENT", "SUMMARY:Work\r\nEND:VEVENT"))).toBeNull();
    expect(blocksOf("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n")).toBeNull();
    expect(blocksOf(decoded("§"))).toBeNull();
  });

  test("need days and times, and dates once", () => {
    expect([OFFICE, NIGHT].every(isWhole)).toBe(true);
    expect(isWhole({ ...OFFICE, days: [] })).toBe(false);
    expect(isWhole({ ...OFFICE, from: "" })).toBe(false);
    expect(areWhole(week(OFFICE))).toBe(true);
    expect(areWhole(week())).toBe(false);
    const day = { date: "2026-12-25", open: null };
    expect(areWhole({ ...week(OFFICE), exceptions: [day] })).toBe(true);
    expect(areWhole({ ...week(OFFICE), exceptions: [day, day] })).toBe(false);
    expect(areWhole({ ...week(OFFICE), exceptions: [{ ...day, date: "" }] })).toBe(false);
  });
});
