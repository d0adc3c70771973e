import { describe, expect, test } from "vitest";
import { start as en } from "../i18n/en";
import { actOf, begins, keyName, keys } from "./table";

const plain = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

test("a key does one thing in a place", () => {
  const known = keys.map((entry) => `${entry.place} ${entry.key}`);
  expect(known.filter((each, index) => known.indexOf(each) !== index)).toEqual([]);
});

test("a key is never both whole and the begin of two", () => {
  for (const { key } of keys) if (key.includes(" ") && key !== " ") expect(begins(key)).toBe(false);
  expect(keys.filter(({ key }) => begins(key))).toEqual([]);
});

test("each key has words for the help", () => {
  for (const { label } of keys) expect(en[label]).toBeTruthy();
});

describe("keys as they are pressed", () => {
  test("have the names of the table", () => {
    expect(keyName({ ...plain, key: "?", shiftKey: true })).toBe("?");
    expect(keyName({ ...plain, key: "K", ctrlKey: true })).toBe("Ctrl+k");
    expect(keyName({ ...plain, key: "k", metaKey: true })).toBe("Ctrl+k");
    expect(keyName({ ...plain, key: "ArrowLeft", shiftKey: true })).toBe("Shift+ArrowLeft");
  });

  test("find their act", () => {
    expect(actOf("anywhere", "f", "g")).toBe("fleet");
    expect(actOf("vehicle", "f", "")).toBe("follow");
    expect(actOf("vehicle", "f", "g")).toBeNull();
    expect(actOf("player", "7", "")).toBe("camera");
    expect(actOf("player", "0", "")).toBeNull();
    expect(begins("g")).toBe(true);
  });
});
