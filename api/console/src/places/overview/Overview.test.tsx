import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { Overview } from "../../api/types";
import { openPage } from "../../testing/page";
import { deviceOf, userOf } from "../../testing/records";
import { answerOf, FakeServer } from "../../testing/server";

const USE: Overview = {
  yesterday: {
    startTime: "2026-06-14T00:00:00Z",
    endTime: "2026-06-15T00:00:00Z",
    distance: 150_000,
    engineHours: 7_200_000,
    devices: 3,
  },
  weekBefore: {
    startTime: "2026-06-07T00:00:00Z",
    endTime: "2026-06-14T00:00:00Z",
    distance: 700_000,
    engineHours: 0,
    devices: 4,
  },
};

function withUse(): FakeServer {
  const server = new FakeServer();
  server.devices = [deviceOf(2, { name: "Van 802" }), deviceOf(3, { name: "Truck 1" })];
  server.answer("getOverview", () => USE);
  return server;
}

const figure = (name: RegExp) => screen.findByRole("link", { name });

test("each figure leads to what it counts", async () => {
  const server = withUse();
  server.answer("listDueMaintenance", ({ query }) => {
    expect(query.toString()).toBe("state=due&limit=1");
    return answerOf<"listDueMaintenance">([], { "X-Total-Count": "4" });
  });
  const page = await openPage("/overview", server);
  const distance = await figure(/^Distance: 150 km$/);
  expect(distance.getAttribute("href")).toBe("/reports/summary?from=now-1d/d&to=now-1d/d&against=week");
  await screen.findByText("100 km a day in the week before (+50 %)");
  const hours = await figure(/^Engine hours: 2 h$/);
  expect(hours.getAttribute("href")).toMatch(/^\/reports\/utilisation\?/);
  expect((await figure(/^Vehicles that drove: 3$/)).getAttribute("href")).toMatch(/^\/reports\/trips\?/);
  expect((await figure(/^Moving: 0$/)).getAttribute("href")).toBe("/fleet?status=moving");
  expect((await figure(/^Alarms and warnings to review: 0$/)).getAttribute("href")).toBe("/events");
  expect((await figure(/^Tickets late: 0$/)).getAttribute("href")).toMatch(
    /^\/tickets\/list\?.*overdue=true/,
  );
  expect((await figure(/^Maintenance due: 4$/)).getAttribute("href")).toBe("/admin/maintenance");
  await page.user.click(await figure(/^Vehicles with silent cameras/));
  within(await screen.findByRole("list", { name: "Vehicles with silent cameras" })).getByText(
    "All cameras are heard of.",
  );
  await page.expectAccessible();
});

test("who may read no reports sees nothing of the past", async () => {
  const server = withUse();
  server.user = userOf({ administrator: false, disableReports: true });
  await openPage("/overview", server);
  await figure(/^Moving/);
  expect(screen.queryByRole("region", { name: "Yesterday" })).toBeNull();
  expect(screen.queryByRole("link", { name: /^Alarms/ })).toBeNull();
  expect(server.asked("getOverview")).toEqual([]);
});

test("a reader begins with it, and not any more", async () => {
  const server = withUse();
  let page = await openPage("/overview", server);
  await page.click("button", "Begin with this page");
  await waitFor(() => expect(server.user?.attributes["console.start"]).toBe("overview"));
  page = await openPage("/", server);
  await screen.findByRole("heading", { name: "Overview" });
  await page.expectAddress("/overview");
  await page.click("button", "Begin with the fleet");
  await waitFor(() => expect(server.user?.attributes["console.start"]).toBeUndefined());
  page = await openPage("/", server);
  await screen.findByRole("heading", { name: "Fleet" });
  expect(page.address).toBe("/");
});
