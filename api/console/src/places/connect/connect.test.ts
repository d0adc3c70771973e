import { describe, expect, test } from "vitest";
import type { Device, Position, Protocol } from "../../api/types";
import { findingOf, isChecksum } from "./finding";
import { hear, MOST_SENDERS, type Sender } from "./heard";
import { holds, looksLike } from "./looks";
import { doubtOf, isImei, isLike, isSame } from "./numbers";
import { isPrivate, searched, trackersOf } from "./trackers";

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
const wanted = { uniqueId: "013912345678", deviceId: 7 };

describe("trackers", () => {
  const listed: Protocol[] = [
    { name: "zz9", transport: "tcp", udp: false, port: 5999, identity: "phone", enabled: true, host: null },
    {
      name: "gt06",
      transport: "tcp",
      udp: false,
      port: 5023,
      identity: "text",
      enabled: true,
      host: "f.example",
    },
    {
      name: "osmand",
      transport: "http",
      udp: false,
      port: 5055,
      identity: "text",
      enabled: true,
      host: null,
    },
    { name: "h02", transport: "tcp", udp: true, port: 5013, identity: "text", enabled: false, host: null },
  ];
  const trackers = trackersOf(listed, "10.0.0.1");

  test("are those that the server listens for, also what the page does not know", () => {
    expect(trackers.map(({ title }) => title)).toEqual(["GT06", "OsmAnd", "zz9"]);
    expect(trackers[0]?.message).toBe("SERVER,1,f.example,5023,0#");
    expect(trackers[1]).toMatchObject({ url: "http://10.0.0.1:5055/", message: null, number: "id" });
    expect(trackers[2]).toMatchObject({ number: "phone", models: "", url: null });
    expect(
      trackersOf(
        listed.slice(1, 2).map((each) => ({ ...each, host: null })),
        "::1",
      )[0]?.message,
    ).toBe("SERVER,0,::1,5023,0#");
  });

  test("are found by make, model and protocol", () => {
    expect(searched(trackers, "concox gt06n").map(({ name }) => name)).toEqual(["gt06"]);
    expect(searched(trackers, "traccar client").map(({ name }) => name)).toEqual(["osmand"]);
    expect(searched(trackers, "nokia")).toEqual([]);
    expect(searched(trackers, " ")).toHaveLength(3);
  });

  test("cannot reach private addresses", () => {
    const hosts = [
      "localhost",
      "127.0.0.1",
      "10.1.2.3",
      "172.16.0.1",
      "172.31.9.9",
      "192.168.1.1",
      "::1",
      "van.local",
    ];
    expect(hosts.filter((host) => !isPrivate(host))).toEqual([]);
    expect(["172.32.0.1", "8.8.8.8", "10.example.org", "fleet.example"].filter(isPrivate)).toEqual([]);
  });
});

describe("numbers", () => {
  test("are the same without leading zeros, texts only exactly", () => {
    expect(isSame("013912345678", "13912345678")).toBe(true);
    expect(isSame(" 12", "0012")).toBe(true);
    expect(isSame("0", "000")).toBe(true);
    expect(isSame("0van", "van")).toBe(false);
  });

  test("are alike with two digits wrong, a digit lost, or the same end", () => {
    expect(isLike("13912345678", "13912345687")).toBe(true);
    expect(isLike("13912345678", "1391234567")).toBe(true);
    expect(isLike("862205059210015", "9210015")).toBe(true);
    expect(isLike("13912345678", "99912345678")).toBe(true);
    expect(isLike("13912345678", "13800000001")).toBe(false);
    expect(isLike("12345", "12345")).toBe(false);
  });

  test("have doubts", () => {
    expect(isImei("490154203237518")).toBe(true);
    expect(doubtOf("490154203237518", "imei")).toBeNull();
    expect(doubtOf("490154203237517", "imei")).toBe("imeiDigit");
    expect(doubtOf("49015420323751", "imei")).toBe("imeiLength");
    expect(doubtOf("van", "phone")).toBe("phone");
    expect(doubtOf("van", "id")).toBeNull();
    expect(doubtOf("", "imei")).toBeNull();
  });
});

test("bytes look like a protocol, and hold a number", () => {
  const samples: [string, string | null][] = [
    ["78780d01035339800000000500018ee70d0a", "gt06"],
    ["7e0100002d013912345678000000007e", "jt808"],
    ["000f333536333037303432343431303133", "teltonika"],
    ["##,imei:359586015829802,A;", "gps103"],
    ["*HQ,4209917484,V1,051855,A", "h02"],
    ["$$A28,353358017784062,A10*44\r\n", "meitrack"],
    ["[3G*8800000015*0002*LK]", "watch"],
    ["(013612345678BP00)", "tk103"],
    ["ST300STT;907036704;01;700", "suntech"],
    ["GET / HTTP/1.1\r\n", null],
    ["160301020001000", null],
  ];
  for (const [data, protocol] of samples) expect(looksLike(data), data).toBe(protocol);
  expect(holds("7e0100002d013912345678000000007e", "13912345678")).toBe(true);
  expect(holds("imei:359586015829802", "359586015829802")).toBe(true);
  expect(holds("000f333539353836", "359586")).toBe(true);
  expect(holds("anything", "van")).toBe(false);
});

describe("those who are heard", () => {
  const record = { host: "192.0.2.7", protocol: "jt808", data: "7e00" };

  test("are one for each number, the likely ones first", () => {
    let heard = hear([], [{ ...record, uniqueId: "013912345687" }], wanted, 1);
    heard = hear(
      heard,
      [
        { ...record, uniqueId: "99" },
        { ...record, uniqueId: "99" },
      ],
      wanted,
      2,
    );
    expect(heard.map(({ uniqueId, likely, at }) => [uniqueId, likely, at])).toEqual([
      ["013912345687", true, 1],
      ["99", false, 2],
    ]);
  });

  test("are not the vehicles that there were, but those that came since", () => {
    const records = [6, 7, 8].map((deviceId) => ({ ...record, deviceId, uniqueId: String(deviceId) }));
    expect(hear([], records, wanted, 1).map(({ deviceId }) => deviceId)).toEqual([8]);
    const dropped = { ...record, deviceId: 7, uniqueId: wanted.uniqueId, problem: "the check byte is wrong" };
    expect(hear([], [dropped], wanted, 1)).toHaveLength(1);
  });

  test("keep what was wrong, and are not more than some", () => {
    const first = { ...record, data: "78780d01035339800000000500018ee70d0a", problem: "no login" };
    let heard = hear([], [first], wanted, 1);
    heard = hear(heard, [record], wanted, 2);
    expect(heard).toMatchObject([{ key: "192.0.2.7 jt808", problem: "no login", looks: "gt06", at: 2 }]);
    const many = Array.from({ length: 50 }, (_, index) => ({ ...record, uniqueId: `x${index}` }));
    expect(hear(heard, many, wanted, 3)).toHaveLength(MOST_SENDERS);
  });
});

describe("what is said", () => {
  const sender = (given: Partial<Sender>): Sender => ({
    key: "k",
    uniqueId: "",
    protocol: "jt808",
    host: "192.0.2.7",
    deviceId: 0,
    problem: "",
    looks: null,
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
    expect(kindOf({}, undefined, sender({ looks: "gt06" }))).toBe("otherPort");
    expect(kindOf({}, undefined, sender({ problem: "the check byte is wrong" }))).toBe("broken");
    expect(kindOf({}, position({}), sender({ uniqueId: "13912345687" }))).toBe("reports");
    const seen = { lastUpdate: "2026-11-22T11:59:00Z" };
    const own = { uniqueId: "013912345678", deviceId: 7, problem: "the check byte is wrong" };
    expect(kindOf(seen, undefined, sender(own))).toBe("broken");
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
