import { describe, expect, test } from "vitest";
import { doubtOf, isImei, isLike, isSame } from "./numbers";

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
