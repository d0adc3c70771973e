import { describe, expect, test } from "vitest";
import type { Device, Position } from "../../api/types";
import { findingOf, isChecksum } from "./finding";
import type { Sender } from "./unclaimedSenders";

const NOW = Date.parse("2026-11-22T12:00:00Z");
const device = (given: Partial<Device>) =>
  ({
    id: 7,
    uniqueId: "013912345678",
    disabled: false,
    expirationTime: null,
    lastUpdate: null,
    ...given,
  }) as Device;
const position = (given: Partial<Position>) =>
  ({ fixTime: "2026-11-22T11:59:00Z", valid: true, latitude: 52.5, longitude: 13.4, ...given }) as Position;

describe("what is said", () => {
  const sender = (given: Partial<Sender>): Sender => ({
    key: "k",
    uniqueId: "",
    protocol: "jt808",
    host: "192.0.2.7",
    deviceId: 0,
    problem: "",
    guessedProtocol: null,
    likely: true,
    at: 0,
    ...given,
  });
  const kindOf = (of: Partial<Device>, at?: Position, ...heard: Sender[]) =>
    findingOf(device(of), at, heard, NOW).kind;

  test("follows the vehicle and its position", () => {
    expect(kindOf({})).toBe("nothing");
    expect(kindOf({ lastUpdate: "2026-11-22T11:59:00Z" })).toBe("noPosition");
    expect(
      kindOf({}, position({ fixTime: "1980-01-06T00:00:00Z", valid: false, latitude: 0, longitude: 0 })),
    ).toBe("noPosition");
    expect(kindOf({}, position({ valid: false }))).toBe("noFix");
    expect(kindOf({}, position({ latitude: 0, longitude: 0 }))).toBe("noFix");
    expect(kindOf({}, position({}))).toBe("reports");
    expect(kindOf({ disabled: true }, position({}))).toBe("shut");
    expect(kindOf({ expirationTime: "2026-11-22T11:00:00Z" })).toBe("shut");
    expect(kindOf({ expirationTime: "2026-11-23T11:00:00Z" })).toBe("nothing");
  });

  test("names who is heard, where the vehicle was not", () => {
    expect(kindOf({}, undefined, sender({ uniqueId: "13912345678" }))).toBe("knocks");
    expect(kindOf({}, undefined, sender({ uniqueId: "13912345687" }))).toBe("otherNumber");
    expect(kindOf({}, undefined, sender({ uniqueId: "5", likely: false }))).toBe("nothing");
    expect(kindOf({}, undefined, sender({ guessedProtocol: "gt06" }))).toBe("otherPort");
    expect(kindOf({}, undefined, sender({ problem: "the check byte is wrong" }))).toBe("broken");
    expect(kindOf({}, position({}), sender({ uniqueId: "13912345687" }))).toBe("reports");
    const seen = { lastUpdate: "2026-11-22T11:59:00Z" };
    const own = { uniqueId: "013912345678", deviceId: 7, problem: "the check byte is wrong" };
    expect(kindOf(seen, undefined, sender(own))).toBe("broken");
    expect(kindOf(seen, undefined, sender({ ...own, problem: "refused: its protocol is gt06" }))).toBe(
      "refused",
    );
    expect(kindOf(seen, undefined, sender({ ...own, problem: "", deviceId: 0 }))).toBe("noPosition");
  });

  test("knows refusals of check values", () => {
    expect(["the check byte is wrong", "wrong check value", "bad CRC"].map(isChecksum)).toEqual([
      true,
      true,
      true,
    ]);
    expect(isChecksum("the peer closed the connection")).toBe(false);
  });
});
