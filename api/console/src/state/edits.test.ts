import { describe, expect, test } from "vitest";
import { differing, merged } from "./edits";

const base = { id: 4, name: "Depot", calendarId: 0, attributes: { color: "#123456", floor: 3 } as object };
type Zone = Omit<typeof base, "attributes"> & { attributes: Record<string, unknown> };
const zone = (changes: Partial<Zone>, attributes: Record<string, unknown> = {}): Zone => ({
  ...base,
  ...changes,
  attributes: { color: "#123456", floor: 3, ...attributes },
});

describe("two edits of one record", () => {
  test("differ by fields and by single attributes; absent is null", () => {
    expect(differing(zone({}), zone({}))).toEqual([]);
    expect(differing(zone({}), zone({ name: "Yard" }, { color: "#fff", speedLimit: 20 }))).toEqual([
      "attributes.color",
      "attributes.speedLimit",
      "name",
    ]);
    expect(differing(zone({}, { color: null }), { ...zone({}), attributes: { floor: 3 } })).toEqual([]);
  });

  test("are joined: mine where I changed something, else theirs", () => {
    const mine = zone({ name: "Yard" }, { floor: undefined });
    const theirs = zone({ name: "Garage", calendarId: 7 }, { color: "#000000" });
    expect(merged(zone({}), mine, theirs)).toEqual({
      id: 4,
      name: "Yard",
      calendarId: 7,
      attributes: { color: "#000000" },
    });
  });

  test("that both leave as it was stays so", () => {
    expect(merged(zone({}), zone({}), zone({}))).toEqual(zone({}));
  });
});
