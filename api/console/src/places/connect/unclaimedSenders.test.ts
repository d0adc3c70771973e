import { describe, expect, test } from "vitest";
import { addRecords, MOST_SENDERS } from "./unclaimedSenders";

const wanted = { uniqueId: "013912345678", deviceId: 7 };

describe("those who are heard", () => {
  const record = { host: "192.0.2.7", protocol: "jt808", data: "7e00" };

  test("are one for each number, the likely ones first", () => {
    let heard = addRecords([], [{ ...record, uniqueId: "013912345687" }], wanted, 1);
    heard = addRecords(
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

  test("are not the vehicles that there are, but what registered itself under a number like it", () => {
    const records = [6, 7, 8].map((deviceId) => ({ ...record, deviceId, uniqueId: "013912345687" }));
    expect(addRecords([], records, wanted, 1).map(({ deviceId }) => deviceId)).toEqual([8]);
    expect(addRecords([], [{ ...record, deviceId: 8, uniqueId: "55" }], wanted, 1)).toEqual([]);
    const dropped = { ...record, deviceId: 7, uniqueId: wanted.uniqueId, problem: "the check byte is wrong" };
    expect(addRecords([], [dropped], wanted, 1)).toHaveLength(1);
  });

  test("keep what was wrong, and are not more than some", () => {
    const first = { ...record, data: "78780d01035339800000000500018ee70d0a", problem: "no login" };
    let heard = addRecords([], [first], wanted, 1);
    heard = addRecords(heard, [record], wanted, 2);
    expect(heard).toMatchObject([
      { key: "192.0.2.7 jt808", problem: "no login", guessedProtocol: "gt06", at: 2 },
    ]);
    const many = Array.from({ length: 50 }, (_, index) => ({ ...record, uniqueId: `x${index}` }));
    expect(addRecords(heard, many, wanted, 3)).toHaveLength(MOST_SENDERS);
  });
});
