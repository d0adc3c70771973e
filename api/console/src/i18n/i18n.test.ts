import { describe, expect, test } from "vitest";
import { en as start } from "./en";
import { connect } from "./en/connect";
import { server } from "./en/server";
import { values as ofValues } from "./en/values";
import { words } from "./en/words";
import { madeUp } from "./pseudo";
import { pt as startPt } from "./pt";
import { connect as connectPt } from "./pt/connect";
import { server as serverPt } from "./pt/server";
import { values as ofValuesPt } from "./pt/values";
import { words as wordsPt } from "./pt/words";
import { chooseLanguage, fill, type Key, loadTexts, type Message, setLanguage, t } from "./translate";

const en: Record<Key, Message> = { ...start, ...connect, ...server, ...ofValues, ...words };
const pt: Record<Key, Message> = { ...startPt, ...connectPt, ...serverPt, ...ofValuesPt, ...wordsPt };
const keys = Object.keys(en) as Key[];
const forms = (message: Message) => (typeof message === "string" ? [message] : Object.values(message));
const values = (message: Message) =>
  new Set(forms(message).flatMap((text) => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1])));

describe("Portuguese", () => {
  test("has the keys of English, and no others", () => {
    expect(Object.keys(pt).sort()).toEqual([...keys].sort());
  });

  test("takes the same values in each text, and leaves none empty", () => {
    for (const key of keys) {
      expect(values(pt[key]), key).toEqual(values(en[key]));
      expect(typeof pt[key], key).toBe(typeof en[key]);
      for (const text of forms(pt[key])) expect(text.trim(), key).not.toBe("");
    }
  });
});

test("no key is written in two files", () => {
  const keysOf = (files: Record<string, Record<string, object>>) =>
    Object.values(files).flatMap((file) => Object.values(file).flatMap(Object.keys));
  const english = keysOf(import.meta.glob("./en/*.ts", { eager: true }));
  expect([...english].sort()).toEqual([...keys].sort());
  const portuguese = keysOf(import.meta.glob("./pt/*.ts", { eager: true }));
  expect(new Set(portuguese).size).toBe(portuguese.length);
  for (const key of english) expect(portuguese).toContain(key);
});

describe("texts", () => {
  test("are filled with values, unknown ones stay", () => {
    const rules = new Intl.PluralRules("en");
    const numbers = new Intl.NumberFormat("en");
    expect(fill("{a} of {b}", { a: 1 }, rules, numbers)).toBe("1 of {b}");
    expect(fill({ one: "{count} day", other: "{count} days" }, { count: 1 }, rules, numbers)).toBe("1 day");
    expect(fill({ one: "{count} day", other: "{count} days" }, { count: 0 }, rules, numbers)).toBe("0 days");
    expect(fill({ other: "{count}" }, { count: 1 }, rules, numbers)).toBe("1");
    expect(fill("{count} at port {port}", { count: 1000, port: 5055 }, rules, numbers)).toBe(
      "1,000 at port 5055",
    );
  });

  test("change with the language", async () => {
    await setLanguage("pt");
    expect(t("common.cancel")).toBe("Cancelar");
    expect(t("account.days", { count: 2 })).toBe("2 dias");
    await setLanguage("en");
    expect(t("common.cancel")).toBe("Cancel");
  });

  test("of a place come with it, and change with the language", async () => {
    expect(t("connect.take")).toBe("connect.take");
    await loadTexts("connect");
    expect(t("connect.take")).toBe("Take it");
    const loading = loadTexts("connect");
    await Promise.all([setLanguage("pt"), loading]);
    expect(t("connect.take")).toBe("É este");
    await setLanguage("en");
    expect(t("connect.take")).toBe("Take it");
    expect(t("common.cancel")).toBe("Cancel");
  });

  test("are chosen by what is wished first", () => {
    expect(chooseLanguage(null, "de-DE", "pt-BR", "en")).toBe("pt");
    expect(chooseLanguage(undefined, 7, "fr")).toBe("en");
  });
});

test("the made-up language keeps values and is longer", () => {
  const made = madeUp(en);
  expect(made["common.ago"]).toContain("{span}");
  for (const key of keys) {
    for (const [index, text] of forms(made[key]).entries()) {
      const original = forms(en[key])[index] ?? "";
      expect(text.length).toBeGreaterThanOrEqual(original.replace(/\{\w+\}/g, "").length * 1.4);
      expect(text).toMatch(/^⟦.*⟧$/s);
    }
  }
});
