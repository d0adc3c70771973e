import { expect, test } from "vitest";
import type { Device, Group, Position } from "../../api/types";
import { loadAttributeWords } from "../../format/attributeWords";
import { setLanguage } from "../../i18n/translate";
import { COLUMNS, columnsOf, columnText } from "./columns";

test("columns are those of the attribute that are known, in one order", () => {
  expect(columnsOf(undefined)).toEqual([]);
  expect(columnsOf("model")).toEqual([]);
  expect(columnsOf(["fuel", "of tomorrow", "group", 3])).toEqual(["group", "fuel"]);
  expect(columnsOf([])).toEqual([]);
});

test("a column says what is known of the vehicle", async () => {
  await setLanguage("en");
  await loadAttributeWords();
  const of = { uniqueId: "7", groupId: 2, model: "FMB920", phone: null, contact: "" } as unknown as Device;
  const at = { address: "Rua 1", attributes: { batteryLevel: 62 } } as unknown as Position;
  const groups = [{ id: 2, name: "North" }] as Group[];
  const texts = COLUMNS.map((each) => columnText(each, of, at, groups)).filter(Boolean);
  expect(texts.slice(0, 4)).toEqual(["7", "North", "FMB920", "Rua 1"]);
  expect(texts[4]).toBe("Battery 62 %");
  expect(texts).toHaveLength(5);
  expect(COLUMNS.map((each) => columnText(each, of, undefined, null)).filter(Boolean)).toEqual([
    "7",
    "FMB920",
  ]);
});
