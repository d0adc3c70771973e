import { screen, within } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import type { TripItem } from "../../api/types";
import { openPage } from "../../testing/page";
import { deviceOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

const SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z";

function tripOf(deviceId: number, hour: number, change: Partial<TripItem> = {}): TripItem {
  const time = (minute: number) => `2026-05-01T${String(hour).padStart(2, "0")}:${minute}:00Z`;
  return {
    deviceId,
    deviceName: `Van ${deviceId}`,
    distance: 12_000,
    averageSpeed: 20,
    maxSpeed: 40,
    spentFuel: 1.5,
    startOdometer: 0,
    endOdometer: 0,
    startTime: time(10),
    endTime: time(40),
    startPositionId: 1,
    endPositionId: 2,
    startLat: 52.5,
    startLon: 13.4,
    endLat: 52.6,
    endLon: 13.5,
    startAddress: null,
    endAddress: null,
    startPlace: "Depot",
    endPlace: "Harbour",
    duration: 1_800_000,
    driverId: null,
    driverUniqueId: null,
    driverName: deviceId === 1 ? "Ann" : null,
    ...change,
  };
}

function withTrips(): FakeServer {
  const server = new FakeServer();
  server.devices = [deviceOf(1, { name: "Van 1" }), deviceOf(2, { name: "Van 2" })];
  server.answer("getTripsReport", () => [tripOf(1, 8), tripOf(1, 9), tripOf(2, 8, { distance: 30_000 })]);
  return server;
}

const table = () => screen.findByRole("grid", { name: "Trips" });

test("rows, their sums, and what leads to the history of the vehicle", async () => {
  const server = withTrips();
  const page = await openPage(`/reports/trips?deviceId=1&deviceId=2&${SPAN}`, server);
  const rows = within(await table());
  rows.getAllByText("Van 1");
  rows.getByText("3 in all");
  rows.getByText("54.0 km");
  expect(server.asked("getTripsReport")[0]?.query.getAll("deviceId")).toEqual(["1", "2"]);
  expect(server.asked("getTripsReport")[0]?.query.get("to")).toBe("2026-05-01T23:59:59.999Z");
  await page.expectAccessible();
  const names = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(names).toContainEqual(
    expect.stringMatching(/^\/api\/reports\/trips\/xlsx\?deviceId=1&deviceId=2&from=/),
  );
  expect(names).toContainEqual(expect.stringMatching(/^\/api\/reports\/trips\/csv\?/));
  await page.user.click(rows.getByText("30.0 km"));
  await page.expectAddress(
    /^\/vehicles\/2\/history\?from=2026-05-01T08:08:00Z&to=2026-05-01T08:42:00Z&at=2026-05-01T08:10:00Z/,
  );
});

test("grouped and sorted as the address says", async () => {
  const page = await openPage(`/reports/trips?${SPAN}&by=driver`, withTrips());
  const groups = within(await screen.findByRole("treegrid", { name: "Trips" }));
  expect(groups.getAllByRole("row", { expanded: true }).map((row) => row.textContent)).toEqual([
    expect.stringContaining("Ann"),
    expect.stringContaining("Driver unknown"),
  ]);
  await page.user.click(groups.getByRole("button", { name: "Distance" }));
  await page.expectAddress(/sort=distance/);
  await page.user.click(groups.getByRole("button", { name: /Distance/ }));
  await page.expectAddress(/sort=-distance/);
});

test("a report that takes long shows what there is so far, and can be left", async () => {
  const server = withTrips();
  const text = new TextEncoder();
  server.answer("getTripsReport", () => {
    const body = new ReadableStream<Uint8Array>({
      start: (control) => control.enqueue(text.encode(`[${JSON.stringify(tripOf(1, 8))},`)),
    });
    return new Response(body, { headers: { "Content-Type": "application/json" } });
  });
  const page = await openPage(`/reports/trips?${SPAN}`, server);
  await screen.findByText("1 row so far");
  expect(screen.getByRole("progressbar").getAttribute("value")).toBe("0.5");
  within(await table()).getByText("Depot");
  await page.click("button", "Cancel");
  await screen.findByText("1 row had been read when you stopped.");
  within(await table()).getByText("Depot");
  server.answer("getTripsReport", () => [tripOf(1, 8), tripOf(2, 8)]);
  await page.click("button", "Read all");
  await screen.findByText("2 in all");
});

test("an answer that breaks off says so, with a way to try again", async () => {
  const server = withTrips();
  server.answer("getTripsReport", () => new Response(`[${JSON.stringify(tripOf(1, 8))},`));
  const page = await openPage(`/reports/trips?${SPAN}`, server);
  await screen.findByText("The server does not answer.");
  server.answer("getTripsReport", () => [tripOf(2, 8)]);
  await page.click("button", "Try again");
  within(await table()).getByText("Van 2");
});

test("a refusal is said in the server's words", async () => {
  const server = withTrips();
  server.answer("getTripsReport", () => refusal(400, "the span is longer than 31 days"));
  await openPage(`/reports/trips?${SPAN}`, server);
  await screen.findByText("The span is longer than 31 days.");
});

test("nothing is found, and what is needed is asked for", async () => {
  const server = withTrips();
  server.answer("getTripsReport", () => []);
  const page = await openPage(`/reports/trips?${SPAN}`, server);
  await screen.findByText("Nothing in this time");
  await page.click("link", "Visits to zones");
  await screen.findByText("Which zones?");
  await page.click("link", "Who was there");
  await screen.findByText("Press the map, or type the coordinates of the place.");
  server.answer("getPresenceReport", () => []);
  await page.fill("Latitude", "52.5");
  await page.fill("Longitude", "13.4");
  await page.click("button", "Show");
  await page.expectAddress(/latitude=52.5&longitude=13.4&radius=100/);
  await vi.waitFor(() => expect(server.asked("getPresenceReport")).toHaveLength(1));
});

test("two spans side by side", async () => {
  const server = withTrips();
  server.answer("getTripsReport", ({ query }) =>
    query.get("from") === "2026-04-30T00:00:00Z"
      ? [tripOf(2, 8, { distance: 15_000 })]
      : [tripOf(2, 8, { distance: 30_000 })],
  );
  await openPage(`/reports/trips?${SPAN}&against=before`, server);
  const compared = within(await screen.findByRole("grid", { name: "Comparison" }));
  await vi.waitFor(() => expect(compared.getAllByText("+100 %").length).toBeGreaterThan(0));
  compared.getAllByText("15.0 km");
});
