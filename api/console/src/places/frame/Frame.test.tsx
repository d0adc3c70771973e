import { screen, waitFor, waitForElementToBeRemoved, within } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { openPage } from "../../testing/page";
import { deviceOf, eventOf, positionOf, userOf, zoneOf } from "../../testing/records";
import { FakeServer } from "../../testing/server";

test("an alarm is announced over any place, and one key leads to its proof", async () => {
  const server = new FakeServer();
  server.devices = [deviceOf(8, { status: "online" })];
  const alarm = eventOf(881, { deviceId: 8, attributes: { alarm: "sos" } });
  server.answer("getEvent", alarm);
  server.answer("listPositions", [positionOf(8)]);
  const page = await openPage("/account", server);
  await screen.findByRole("heading", { name: "Account" });
  server.happen(alarm);
  expect((await screen.findByRole("alert")).textContent).toContain("Van 8");
  await page.expectAccessible();
  await page.press("n");
  await screen.findByRole("heading", { name: "Alarm: emergency button" });
  await screen.findByRole("link", { name: "Van 8" });
  expect(page.address).toBe("/events/881");
});

test("an urgent alarm has a sound and a notice of the system, if the reader wants them", async () => {
  const tones: number[] = [];
  const notices: FakeNotice[] = [];
  class FakeNotice {
    static permission = "granted";
    onclick = () => {};
    close = vi.fn();
    constructor(readonly text: string) {
      notices.push(this);
    }
  }
  class FakeAudio {
    currentTime = 0;
    destination = {};
    resume = () => Promise.resolve();
    createOscillator = () => {
      const frequency = { value: 0 };
      return {
        frequency,
        connect: (next: object) => next,
        start: () => tones.push(frequency.value),
        stop() {},
      };
    };
    createGain = () => ({
      gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} },
      connect: (next: object) => next,
    });
  }
  const server = new FakeServer();
  server.devices = [deviceOf(8, { status: "online" })];
  const [first, second] = [881, 882].map((id) => eventOf(id, { deviceId: 8, attributes: { alarm: "sos" } }));
  if (!first || !second) throw new Error("two events");
  server.answer("getEvent", second);
  server.answer("listPositions", [positionOf(8)]);
  server.user = userOf();
  const silent = await openPage("/account", server);
  vi.stubGlobal("Notification", FakeNotice);
  vi.stubGlobal("AudioContext", FakeAudio);
  await screen.findByRole("heading", { name: "Account" });
  vi.spyOn(document, "hasFocus").mockReturnValue(false);
  server.happen(first);
  await screen.findByRole("alert");
  expect([tones, notices]).toEqual([[], []]);
  expect(silent.address).toBe("/account");

  server.user = userOf({ attributes: { "console.noticeSound": true, "console.noticeSystem": true } });
  const page = await openPage("/account", server);
  vi.stubGlobal("Notification", FakeNotice);
  vi.stubGlobal("AudioContext", FakeAudio);
  await screen.findByRole("heading", { name: "Account" });
  const looks = vi.spyOn(document, "hasFocus").mockReturnValue(false);
  server.happen(second);
  await screen.findByRole("alert");
  expect(tones).toEqual([880, 660]);
  expect(notices.map(({ text }) => text)).toEqual(["Alarm: emergency button: Van 8"]);
  notices[0]?.onclick();
  await screen.findByRole("heading", { name: "Alarm: emergency button" });
  expect(page.address).toBe("/events/882");
  // Who looks at the page hears it, and has its own notice alone.
  looks.mockReturnValue(true);
  server.happen(eventOf(883, { deviceId: 8, attributes: { alarm: "sos" } }));
  await waitFor(() => expect(tones).toHaveLength(4));
  expect(notices).toHaveLength(1);
});

test("vehicles that arrive while one types are found", async () => {
  const server = new FakeServer();
  let answer = () => {};
  const read = new Promise<void>((resolve) => {
    answer = resolve;
  });
  server.answer("listDevices", async () => {
    await read;
    return [deviceOf(2, { name: "Van 1702", uniqueId: "1702" })];
  });
  const page = await openPage("/account", server);
  await screen.findByRole("heading", { name: "Account" });
  await page.press("{Control>}k{/Control}");
  await page.press("1702 live");
  await screen.findByText("Nothing matches.");
  answer();
  const palette = within(screen.getByRole("dialog"));
  const options = await palette.findAllByRole("option");
  expect(options.map(({ textContent }) => textContent)).toEqual(["Van 1702 · Live"]);
});

test("the palette finds a zone by its name, and shows it on the map", async () => {
  const server = new FakeServer();
  server.zones = [zoneOf(4, { name: "Long quay" })];
  const page = await openPage("/account", server);
  await screen.findByRole("heading", { name: "Account" });
  await page.press("{Control>}k{/Control}");
  await page.press("quay");
  await screen.findByRole("option", { name: /Long quay/ });
  await page.press("{Enter}");
  await page.expectAddress(/^\/zones\/4/);
});

test("administrators are told what is wrong with the server, and since when", async () => {
  const server = new FakeServer();
  const page = await openPage("/account", server);
  await screen.findByRole("heading", { name: "Account" });
  const disk = {
    name: "disk",
    since: "2026-06-15T10:30:00.000+00:00",
    text: "the disk of the server is nearly full",
    cause: "210 MiB of 20480 MiB are free at /data",
  };
  server.push({ conditions: [disk, { ...disk, name: "unheard-of", text: "the moon is away" }] });
  const bar = await screen.findByText(/The disk of the server is nearly full\./);
  expect(bar.textContent).toContain("210 MiB of 20480 MiB are free");
  expect(bar.textContent).toMatch(/Since .*\d\d?:30/);
  await screen.findByText(/the moon is away\./);
  await page.expectAccessible();
  server.push({ conditions: [] });
  await waitForElementToBeRemoved(bar);
});

test("others are not told, and a new connection takes nothing for granted", async () => {
  const server = new FakeServer();
  const condition = {
    name: "clock",
    since: "2026-06-15T10:30:00Z",
    text: "the clock was set",
    cause: "by 60 s",
  };
  await openPage("/account", server);
  await screen.findByRole("heading", { name: "Account" });
  server.push({ conditions: [condition] });
  await screen.findByText(/The clock of the server was set\./);
  server.drop();
  await waitFor(() => expect(screen.queryByText(/The clock of the server was set\./)).toBeNull());
  server.user = userOf({ administrator: false });
  await openPage("/account", server);
  await screen.findByRole("heading", { name: "Account" });
  server.push({ conditions: [condition] });
  expect(screen.queryByText(/The clock of the server was set\./)).toBeNull();
});

/** What a new user would try, and what the palette offers for it, among others. */
const WORDS = {
  en: {
    totals: "Reports",
    dashboard: "Overview",
    map: "Fleet",
    vehicles: "Fleet",
    geofence: "Zones",
    alarm: "Events",
    notifications: "Events",
    trackers: "Fleet",
    review: "Events",
    speeding: "Events",
    footage: "Library",
    recordings: "Library",
    photos: "Library",
    clips: "Library",
    cctv: "Live",
    wall: "Live",
    smtp: "Settings",
    admin: "Admin",
    "business hours": "Calendars",
    timer: "Schedules",
    satellite: "Settings",
    ignition: "Van 8 · Commands",
    parking: "Van 8 · History",
    "add vehicle": "Connect a tracker",
    gps: "Connect a tracker",
    "draw zone": "New zone",
    camera: "Live",
    video: "Van 8 · Live",
    report: "Van 8 · History",
    trips: "Van 8 · History",
    stops: "Van 8 · History",
    route: "Van 8 · History",
    mileage: "Van 8 · History",
    export: "Van 8 · History",
    excel: "Van 8 · History",
    "engine 8": "Van 8 · Commands",
    rename: "Van 8 · Settings",
    track: "Van 8 · Follow on the map",
    link: "Van 8 · Share",
    settings: "Account",
    profile: "Account",
    password: "PasswordAccount",
    units: "Language and unitsAccount",
    timezone: "Language and unitsAccount",
    "2fa": "One-time codesAccount",
    api: "TokensAccount",
    dark: "Theme: Dark",
    "night mode": "Theme: Dark",
    language: "Language: Português (Portugal)",
    portugues: "Language: Português (Portugal)",
    help: "Keys",
    "sign out": "Log out",
    logout: "Log out",
  },
  pt: {
    mapa: "Frota",
    geocerca: "Zonas",
    alarmes: "Eventos",
    gravacoes: "Biblioteca",
    fotografias: "Biblioteca",
    "ao vivo": "Em direto",
    rever: "Eventos",
    velocidade: "Van 8 · Histórico",
    correio: "Definições",
    administracao: "Gestão",
    camaras: "Em direto",
    video: "Van 8 · Em direto",
    relatorio: "Van 8 · Histórico",
    viagens: "Van 8 · Histórico",
    paragens: "Van 8 · Histórico",
    exportar: "Van 8 · Histórico",
    motor: "Van 8 · Comandos",
    definicoes: "Conta",
    senha: "Palavra-passeConta",
    unidades: "Língua e unidadesConta",
    escuro: "Tema: Escuro",
    english: "Língua: English",
    ajuda: "Teclas",
    "terminar sessão": "Sair",
  },
  "pt-BR": {
    "cerca virtual": "Zonas",
    cftv: "Ao vivo",
    quilometragem: "Van 8 · Histórico",
    bloquear: "Van 8 · Comandos",
    senha: "SenhaConta",
    tela: "Outra janela",
  },
  es: {
    mapa: "Flota",
    geocerca: "Zonas",
    camaras: "En vivo",
    recorridos: "Van 8 · Historial",
    inmovilizar: "Van 8 · Comandos",
    cerrar: "Salir",
  },
  de: {
    karte: "Flotte",
    geozaun: "Zonen",
    videowand: "Live",
    fahrtenbuch: "Van 8 · Verlauf",
    wegfahrsperre: "Van 8 · Befehle",
    ausloggen: "Abmelden",
  },
} as const;

test.each(["en", "pt", "pt-BR", "es", "de"] as const)(
  "the palette knows the words that a new user would try (%s)",
  async (language) => {
    const server = new FakeServer();
    server.user = userOf({ attributes: { language } });
    server.devices = [deviceOf(8)];
    const page = await openPage("/zones", server);
    await screen.findByRole("region", { name: /Zon/ });
    await page.press("{Control>}k{/Control}");
    const palette = within(screen.getByRole("dialog"));
    const field = palette.getByRole("combobox");
    for (const [word, wanted] of Object.entries(WORDS[language])) {
      await page.user.clear(field);
      // Key by key each takes seconds.
      await page.user.paste(word);
      await waitFor(() => {
        const offered = palette.queryAllByRole("option").map(({ textContent }) => textContent);
        expect(offered, word).toContain(wanted);
      });
    }
    await page.user.clear(field);
    // There is no page of it.
    await page.user.type(field, "invoice");
    await waitFor(() => expect(palette.queryAllByRole("option")).toEqual([]));
  },
);

test("the palette sets a theme, and leads to a part of the account", async () => {
  const server = new FakeServer();
  const page = await openPage("/zones", server);
  await screen.findByRole("heading", { level: 1 });
  await page.press("{Control>}k{/Control}");
  await page.press("theme dark{Enter}");
  await waitFor(() => expect(server.user?.attributes["console.theme"]).toBe("dark"));
  expect(document.documentElement.dataset.theme).toBe("dark");
  await page.press("{Control>}k{/Control}");
  await page.press("password{Enter}");
  await page.expectAddress("/account?section=password");
  await waitFor(() => expect(document.activeElement?.textContent).toBe("Password"));
});
