import { describe, expect, test } from "vitest";
import { madeUp } from "./pseudo";
import {
  chooseLanguage,
  compareNames,
  fill,
  type Key,
  LANGUAGES,
  loadTexts,
  localeOf,
  type Message,
  setLanguage,
  t,
} from "./translate";

const files = import.meta.glob<Record<string, Record<string, Message>>>("./*/*.ts", { eager: true });
const codes = Object.keys(LANGUAGES);
const others = codes.filter((code) => code !== "en");

/** The texts of each file of a folder, without those of its index, which it puts together. */
function filesOf(code: string): Record<string, Message>[] {
  return Object.entries(files)
    .filter(([path]) => path.startsWith(`./${code}/`) && !path.endsWith("/index.ts"))
    .flatMap(([, file]) => Object.values(file));
}

/** All texts of a language, as they are loaded. */
function textsOf(code: string): Record<string, Message> {
  const start = files[`./${code}/index.ts`]?.start;
  return Object.assign({}, ...filesOf(code), start);
}

const en = textsOf("en");
const keys = Object.keys(en) as Key[];
const forms = (message: Message | undefined) =>
  message === undefined ? [] : typeof message === "string" ? [message] : Object.values(message);
const values = (message: Message | undefined) =>
  new Set(forms(message).flatMap((text) => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1])));

/** Texts that are as in English by intent: names, and words that both languages have. */
const SAME: Record<string, string> = {
  all: "IMEI|IMSI|SHA 256|OpenFreeMap|Telegram|Webhook|Pushover|token|ntfy|GPS|BeiDou|GLONASS|Galileo|JPEG|TIF|MP3|WAV|WMV|ABS|Wi Fi|byte|bytes|Byte|Bytes|CO₂|CO|Firmware|Hardware|Token|Tokens|1 min",
  de: "Name|Port|Status|Server|Live|live|Online|Offline|offline|Ticket|Tickets|Alarm|Pause|Film|Zone|Link|Bus|Person|Administrator|Manager|Polygon|Radius m|Video|Scopes|Server URL|Client ID|Roaming|Container|Sensor|Transponder|Terminal|Signal|Beacon|Parameter|Helpdesk|Team|Teams|Workflow|Start|Region|Test|position|Position",
  es: "No|no|General|Color|color|Error|Sensor|Terminal|Tractor|Video|video|Ticket|Tickets|ticket|tickets",
  pt: "E mail|e mail|Online|Offline|Altitude|Volume|Latitude|Longitude|Roaming|Sensor|Terminal|Link|Links|offline|Status|Layout|Van|ticket|Backup",
};

test("each folder is a language", () => {
  const folders = Object.keys(files).map((path) => path.split("/")[1]);
  expect([...new Set(folders)].sort()).toEqual([...codes].sort());
});

describe.each(others)("%s", (code) => {
  const texts = textsOf(code);

  test("has the keys of English, and no others", () => {
    expect(Object.keys(texts).sort()).toEqual([...keys].sort());
  });

  test("takes the same values in each text, and leaves none empty", () => {
    for (const key of keys) {
      expect(values(texts[key]), key).toEqual(values(en[key]));
      expect(typeof texts[key], key).toBe(typeof en[key]);
      for (const text of forms(texts[key])) expect(text.trim(), key).not.toBe("");
    }
  });

  test("has the same names and examples in backticks", () => {
    const named = (text: string) => (text.match(/`[^`]*`/g) ?? []).sort();
    for (const key of keys) expect(forms(texts[key]).map(named), key).toEqual(forms(en[key]).map(named));
  });

  test("is not English but for names and words of both", () => {
    const same = new Set(`${SAME.all}|${SAME[code.slice(0, 2)]}`.split("|"));
    const bare = (text: string) =>
      text
        .replace(/\{\w+\}/g, "")
        .replace(/[^\p{L}\p{N}]+/gu, " ")
        .trim();
    const english = keys.filter((key) => {
      const own = forms(texts[key]).map(bare);
      return own.some((text, index) => text && !same.has(text) && text === bare(forms(en[key])[index] ?? ""));
    });
    expect(english.map((key) => `${key}: ${JSON.stringify(texts[key])}`)).toEqual([]);
  });

  test("has each plural form that counts of the page have", () => {
    const rules = new Intl.PluralRules(localeOf(code, []));
    // `many` is of whole millions in Romance languages: no list is so long.
    const needed = new Set([...Array(1000).keys()].map((count) => rules.select(count)));
    for (const [key, message] of Object.entries(texts)) {
      if (typeof message === "string") continue;
      const isSame = new Set(forms(message)).size === 1;
      if (!isSame) expect(new Set(Object.keys(message)), key).toEqual(needed);
    }
  });
});

describe("Portuguese", () => {
  /** What begins with one of these letters, or is one of the others. */
  const stems = (words: string, others: string) =>
    new RegExp(`(?<!\\p{L})(?:${words.replaceAll(" ", "|")}|(?:${others})(?!\\p{L}))`, "iu");
  const found = (code: string, foreign: RegExp) =>
    Object.entries(textsOf(code))
      .filter(([key]) => !key.startsWith("words."))
      .flatMap(([key, message]) => forms(message).map((text) => `${key}: ${text}`))
      .filter((line) => foreign.test(line.slice(line.indexOf(":"))));

  test("of Brazil has no words of Portugal", () => {
    const words = stems(
      "palavra-passe palavras-passe utilizador ficheiro ecrã telemóve matrícula camião camiões autocarro carrinha registo condutor aparelho localizador câmara parage travage travão travõe descarregar descarregue procur elimin guard contact quilómet conta-quilómet morada partilh consola direto definiç definição aplicação aplicações algarismo depósito avaria humidade ralenti ligação ligações pedido pedidos consigo entretanto",
      "à espera|equipas?|n.º|por si|já não|a (?:carregar|calcular|abrir|gravar|chegar)",
    );
    expect(found("pt-BR", words)).toEqual([]);
  });

  test("of Portugal has no words of Brazil", () => {
    const words = stems(
      "senha usuário arquivo arquivos tela celular placa caminhão caminhões ônibus registro registros registrou motorista dispositivo rastreador câmera parada paradas frenage freio baixar baixe salvar salvo salva salve contato quilômet compartilh planilha configurações aplicativo hodômetro umidade equipe chamado você carregando gravando aguardando enviando chegando",
      "ao vivo",
    );
    expect(found("pt", words)).toEqual([]);
  });
});

test("no key is written in two files", () => {
  for (const code of codes) {
    const written = filesOf(code).flatMap(Object.keys);
    expect(
      written.filter((key, index) => written.indexOf(key) !== index),
      code,
    ).toEqual([]);
  }
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
    expect(chooseLanguage(null, "fr-FR", "pt_PT", "en")).toBe("pt");
    expect(chooseLanguage("PT-ao", "en")).toBe("pt");
    expect(chooseLanguage("pt_br")).toBe("pt-BR");
    expect(chooseLanguage("de-AT", "es-MX")).toBe("de");
    expect(chooseLanguage("es-419")).toBe("es");
    expect(chooseLanguage("qps")).toBe("qps");
    expect(chooseLanguage(undefined, 7, "fr", "")).toBe("en");
  });

  test("have numbers, dates and order of the reader's region", async () => {
    expect(localeOf("en", ["pt-BR", "en_gb", "en-US"])).toBe("en-GB");
    expect(localeOf("pt", ["pt", "en-GB"])).toBe("pt-PT");
    expect(localeOf("pt", ["pt-AO"])).toBe("pt-AO");
    expect(localeOf("en", ["en-x-private", "en-", "en-Latn-US"])).toBe("en-Latn-US");
    expect(localeOf("pt-BR", ["pt", "pt-PT"])).toBe("pt-BR");
    expect(localeOf("pt", ["pt-BR"])).toBe("pt-PT");
    expect(localeOf("es", ["es-419"])).toBe("es-419");
    expect(localeOf("qps", ["pt"])).toBe("en");
    await setLanguage("pt", ["pt-PT"]);
    expect(t("fleet.count", { count: 0 })).toBe("0 veículos");
    expect(t("fleet.count", { count: 12000 })).toBe("12\u00a0000 veículos");
    expect(["Zé 10", "Ílhavo", "Zé 2", "ilha"].sort(compareNames)).toEqual([
      "ilha",
      "Ílhavo",
      "Zé 2",
      "Zé 10",
    ]);
    await setLanguage("en");
    expect(t("fleet.count", { count: 12000 })).toBe("12,000 vehicles");
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
