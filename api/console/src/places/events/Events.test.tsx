import { screen, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { deviceOf, eventOf } from "../../testing/records";
import { FakeServer } from "../../testing/server";

/** A server with a vehicle whose button was pressed and that was too fast, and with no other events. */
function withAlarms(): FakeServer {
  const server = new FakeServer();
  server.devices = [deviceOf(2, { name: "Van 802" })];
  const alarm = eventOf(881, { deviceId: 2, place: "Depot", attributes: { alarm: "overspeed" } });
  server.answer("listEvents", ({ query }) => {
    const types = query.getAll("type");
    return types.length === 0 || types.includes("alarm") ? [alarm] : [];
  });
  server.answer("getEvent", alarm);
  return server;
}

test("a list names the sensor that is out of range", async () => {
  const server = withAlarms();
  const attributes = { sensor: "temp1", value: 9.9, limit: 8 };
  server.answer("listEvents", [eventOf(882, { deviceId: 2, type: "sensorOutOfRange", attributes })]);
  await openPage("/events?state=ALL", server);
  await screen.findByText("Sensor out of range: Temperature 1 9.9 °C, limit 8.0 °C");
});

test("lists lead to events and to vehicles", async () => {
  const server = withAlarms();
  const page = await openPage("/events?type=alarm&state=ALL", server);
  const rows = async () => {
    const list = await screen.findByRole("list", { name: "Events, the newest first" });
    return within(list).findAllByRole("listitem");
  };
  expect((await rows())[0]?.textContent).toMatch(/ · Depot.*Van 802/);
  expect(
    server
      .asked("listEvents")
      .find(({ query }) => query.has("from"))
      ?.query.get("places"),
  ).toBe("true");
  await page.expectAccessible();
  await page.click("button", "Without All alarms");
  expect(page.address).toBe("/events?state=ALL");
  await page.user.click(screen.getByRole("combobox", { name: "Add a kind" }));
  await page.press("left");
  await page.click("option", "Left a zone");
  await screen.findByText("Nothing happened in this time");
  expect(server.asked("listEvents").at(-1)?.query.getAll("type")).toEqual(["geofenceExit"]);
  await page.click("button", "Clear the filters");

  await rows();
  await page.click("link", /^Alarm/);
  await screen.findByRole("heading", { name: /^Alarm/ });
  expect(page.address).toBe("/events/881");
  window.history.back();
  await rows();
  await page.click("link", "Van 802");
  await page.expectAddress(/^\/vehicles\/2/);
});

test("an address of a mail leads to its event, or says that there is none", async () => {
  const server = withAlarms();
  server.answer("getEvent", () => new Response("", { status: 404 }));
  const page = await openPage("/event/999999", server);
  await screen.findByText("This event was not found, or is not yours.");
  expect(page.address).toBe("/events/999999");
});
