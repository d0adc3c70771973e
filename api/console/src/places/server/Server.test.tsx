import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { ChangeableSetting, SettingsAtRunTime } from "../../api/types";
import { openPage } from "../../testing/page";
import { settingOf, userOf } from "../../testing/records";
import { answerOf, FakeServer, refusal } from "../../testing/server";

const DEFAULTS: Record<string, ChangeableSetting[]> = {
  map: [
    settingOf("tiles", { value: "openfreemap", default: "openfreemap", optional: false }),
    settingOf("file"),
    settingOf("layers", { type: "list", value: [], default: [], optional: false }),
    settingOf("share_tiles", { type: "boolean" }),
  ],
  mail: [
    settingOf("host"),
    settingOf("port", { type: "integer", value: 0, default: 0, optional: false }),
    settingOf("security", { choices: ["starttls", "none", "tls"], value: "starttls", optional: false }),
    settingOf("password", { secret: true }),
  ],
  positions: [settingOf("retention_days", { type: "integer", value: 730, default: 730, unit: "days" })],
  captures: [
    settingOf("quota_bytes", { type: "integer", value: 5 * 2 ** 30, default: 5 * 2 ** 30, unit: "bytes" }),
  ],
};

/** A server whose settings have been changed so often; `told` are those that are not at their default. */
function withSettings(
  version = 4,
  told: Record<string, Partial<ChangeableSetting>> = {},
  testable: readonly string[] = [],
): FakeServer {
  const server = new FakeServer();
  const sections = Object.entries(DEFAULTS).map(([name, settings]) => ({
    name,
    description: `All of ${name}.`,
    testable: testable.includes(name),
    settings: settings.map((setting) => ({ ...setting, ...told[`${name}.${setting.name}`] })),
  }));
  const answer: SettingsAtRunTime = { sections };
  server.answer("getServerSettings", answerOf<"getServerSettings">(answer, { ETag: `"${version}"` }));
  server.answer("changeServerSettings", answer);
  return server;
}

async function part(name: string): Promise<HTMLElement> {
  const heading = await screen.findByRole("heading", { name });
  const found = heading.closest("details");
  if (!found) throw new Error(`${name} is no part of the page`);
  found.open = true;
  return found;
}

test("what was edited alone is saved, with the version that was seen", async () => {
  const server = withSettings();
  const page = await openPage("/admin/server", server);
  const mail = await part("Mail");
  await page.user.type(within(mail).getByLabelText("Host"), "mail.example.org");
  await page.user.clear(within(mail).getByLabelText("Port"));
  await page.user.type(within(mail).getByLabelText("Port"), "2525");
  await page.user.selectOptions(within(mail).getByLabelText("Security"), "none");
  await page.user.click(within(mail).getByRole("button", { name: "Save" }));
  await screen.findByText("Saved");
  const [sent] = server.asked("changeServerSettings");
  expect(sent?.body).toEqual({ mail: { host: "mail.example.org", port: 2525, security: "none" } });
  expect(sent?.headers.get("If-Match")).toBe('"4"');
  // With nothing edited there is nothing to save.
  await waitFor(() =>
    expect(within(mail).getByRole("button", { name: "Save" })).toHaveProperty("disabled", true),
  );
  await page.expectAccessible();
});

test("a refusal is said beside the field that it names, and what was typed stays", async () => {
  const server = withSettings();
  server.answer("changeServerSettings", refusal(400, "mail.port: 99999 is more than 65535"));
  const page = await openPage("/admin/server", server);
  const mail = await part("Mail");
  const port = within(mail).getByLabelText("Port");
  await page.user.clear(port);
  await page.user.type(port, "99999");
  await page.user.click(within(mail).getByRole("button", { name: "Save" }));
  expect((await screen.findByRole("alert")).textContent).toBe("99999 is more than 65535");
  expect(port.getAttribute("aria-invalid")).toBe("true");
  expect(port).toHaveProperty("value", "99999");
});

test("a login of long ago gives the password, and another one's change is shown before it is overwritten", async () => {
  const server = withSettings();
  const answers = [
    refusal(400, "currentPassword: needed to change positions.retention_days; or log in again"),
    refusal(400, "settings was changed: it is at version 5, you sent 4"),
  ];
  const page = await openPage("/admin/server", server);
  server.answer("changeServerSettings", () => answers.shift() ?? { sections: [] });
  const kept = await part("How long things are kept");
  await page.fill("Positions (days)", "30");
  const save = () => page.user.click(within(kept).getByRole("button", { name: "Save" }));
  await save();
  await page.fill("Current password", "secret");
  server.answer(
    "getServerSettings",
    answerOf<"getServerSettings">({ sections: sectionsOf(withDays(60)) }, { ETag: '"5"' }),
  );
  await save();
  await screen.findByText(/Somebody else has changed settings/);
  await waitFor(() => expect(server.asked("getServerSettings")).toHaveLength(2));
  expect(within(kept).getByLabelText("Positions (days)")).toHaveProperty("value", "30");
  await save();
  await screen.findByText("Saved");
  const sent = server.asked("changeServerSettings");
  expect(sent.map(({ body }) => body)).toEqual([
    { positions: { retention_days: 30 } },
    { positions: { retention_days: 30 }, currentPassword: "secret" },
    { positions: { retention_days: 30 }, currentPassword: "secret" },
  ]);
  expect(sent.at(-1)?.headers.get("If-Match")).toBe('"5"');
});

function withDays(days: number): Record<string, ChangeableSetting[]> {
  return { positions: [settingOf("retention_days", { type: "integer", value: days, unit: "days" })] };
}

function sectionsOf(settings: Record<string, ChangeableSetting[]>): SettingsAtRunTime["sections"] {
  return Object.entries(settings).map(([name, each]) => ({
    name,
    description: "",
    testable: false,
    settings: each,
  }));
}

test("what the file or the environment has is shown and cannot be edited, and what is set here can be taken back", async () => {
  const server = withSettings(4, {
    "mail.host": { value: "mail.example.org", source: "file", changeable: false },
    "mail.password": { value: "********", source: "environment", changeable: false },
    "captures.quota_bytes": { value: 5, source: "database" },
  });
  const page = await openPage("/admin/server", server);
  const mail = await part("Mail");
  expect(within(mail).getByLabelText("Host")).toHaveProperty("disabled", true);
  expect(mail.textContent).toContain("Set in the configuration file, which wins.");
  expect(mail.textContent).toContain("Set in the environment (MOTORPOOL_PASSWORD), which wins.");
  const kept = await part("How long things are kept");
  expect(kept.textContent).toContain("Default: 5368709120 (5 GiB).");
  await page.user.click(within(kept).getByRole("button", { name: "Back to the default" }));
  expect(within(kept).getByLabelText("Captures, in all (bytes)")).toHaveProperty("value", "5368709120");
  await page.user.click(within(kept).getByRole("button", { name: "Save" }));
  await screen.findByText("Saved");
  expect(server.asked("changeServerSettings")[0]?.body).toEqual({ captures: { quota_bytes: null } });
});

test("the streets of the map are one choice of two settings", async () => {
  const server = withSettings();
  const page = await openPage("/admin/server", server);
  const map = await part("Map");
  const sends = async (expected: object) => {
    await page.user.click(within(map).getByRole("button", { name: "Save" }));
    await waitFor(() => expect(server.asked("changeServerSettings").at(-1)?.body).toEqual({ map: expected }));
    await screen.findByText(/show the new map when they are loaded again/);
  };
  await page.click("radio", "An address of your own");
  await page.fill("Address", "https://tiles.example.org/style.json");
  await page.expectAccessible();
  await sends({ tiles: "https://tiles.example.org/style.json", file: null });
  await page.click("radio", "A file on the server");
  await page.fill("Path in the data folder", "map/town.pmtiles");
  await sends({ tiles: "openfreemap", file: "map/town.pmtiles" });
  await page.click("radio", "None");
  await page.fill(
    "Further layers",
    "Aerial https://a.example.org/{{z}/{{x}/{{y}.jpg, Relief https://b.example.org/s",
  );
  await page.user.selectOptions(screen.getByLabelText("Streets for guests of share links"), "yes");
  await sends({
    tiles: "none",
    file: null,
    layers: ["Aerial https://a.example.org/{z}/{x}/{y}.jpg", "Relief https://b.example.org/s"],
    share_tiles: "true",
  });
});

test("a part that is set up is tested, and what came of it is said", async () => {
  const server = withSettings(4, {}, ["mail"]);
  const page = await openPage("/admin/server", server);
  const mail = await part("Mail");
  server.answer("testServerSettings", { result: "admin@example.org" });
  await page.user.click(within(mail).getByRole("button", { name: "Test" }));
  await screen.findByText("A mail was sent to admin@example.org.");
  server.answer("testServerSettings", refusal(400, "mail: mail.example.org has no address"));
  await page.user.click(within(mail).getByRole("button", { name: "Test" }));
  await screen.findByText("Mail: mail.example.org has no address.");
  expect(screen.getAllByRole("button", { name: "Test" })).toHaveLength(1);
});

test("what settings mean is said in the language of the reader, and names stay as they are", async () => {
  const server = withSettings();
  server.user = userOf({ administrator: true, attributes: { language: "de" } });
  await openPage("/admin/server", server);
  const mail = await part("E-Mail");
  const port = await within(mail).findByText(/^Port des Mailservers/);
  expect(port.textContent).toBe("Port des Mailservers. 0: 465 mit tls, 587 mit starttls, 25 mit none.");
  expect([...port.querySelectorAll("code")].map((name) => name.textContent)).toEqual([
    "tls",
    "starttls",
    "none",
  ]);
  const kept = await part("Aufbewahrungsdauer");
  within(kept).getByLabelText("Positionen (Tage)");
  expect((await part("Karte")).textContent).toContain("Durch Kommas getrennt.");
});

test("a setting that the page does not know yet is told in the words of the server, which are English", async () => {
  const server = withSettings();
  const section = { name: "mail", description: "", testable: false, settings: [settingOf("new")] };
  server.answer("getServerSettings", answerOf<"getServerSettings">({ sections: [section] }, { ETag: '"4"' }));
  await openPage("/admin/server", server);
  expect((await screen.findByText("What new changes.")).lang).toBe("en");
});

test("others neither see the place nor find it", async () => {
  const server = withSettings();
  server.user = userOf({ administrator: false });
  await openPage("/admin/server", server);
  await screen.findByText("You may not see this section of the administration.");
  expect(screen.queryByRole("link", { name: "Settings" })).toBeNull();
  expect(server.asked("getServerSettings")).toEqual([]);
});
