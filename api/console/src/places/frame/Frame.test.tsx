import { screen, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { deviceOf, eventOf, positionOf } from "../../testing/records";
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
