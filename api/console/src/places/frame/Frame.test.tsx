import { screen, waitFor, waitForElementToBeRemoved, within } from "@testing-library/preact";
import { expect, test } from "vitest";
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
