import { screen, within } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { openPage } from "../../testing/page";
import { deviceOf, positionOf, zoneOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

const NORTH = { id: 3, name: "North depot", groupId: 0, attributes: {} };

/** A server with 60 vehicles, every second one in a group: `Van 7` drives, `Van 8` stands, the others are offline. */
function fleet(): FakeServer {
  const server = new FakeServer();
  server.devices = Array.from({ length: 60 }, (_, index) =>
    deviceOf(index + 1, {
      groupId: NORTH.id * (index % 2),
      status: [6, 7].includes(index) ? "online" : "offline",
      lastUpdate: new Date(Date.now() - 3_600_000).toISOString(),
    }),
  );
  server.positions = [positionOf(7, { speed: 30 }), positionOf(8)];
  server.answer("listGroups", [NORTH]);
  return server;
}

const row = (name: string | RegExp) => screen.findByRole("link", { name });

test("a user chooses what the rows show, wherever the console is opened", async () => {
  const server = fleet();
  server.saveDevice({ ...deviceOf(8), groupId: NORTH.id, model: "FMB920" });
  let page = await openPage("/account", server);
  const shown = within(await screen.findByRole("group", { name: "Rows of the list of vehicles show" }));
  const box = (label: string) => shown.getByLabelText<HTMLInputElement>(label);
  expect(box("Number").checked).toBe(false);
  for (const label of ["Number", "Group", "Model"]) {
    await page.user.click(box(label));
    await vi.waitFor(() => expect(box(label).checked && !box(label).disabled).toBe(true));
  }
  await page.expectAccessible();
  await page.click("link", "Fleet");
  await row(/Van 8 .*no08 · North depot · FMB920/);

  page = await openPage("/account", server);
  await page.click("link", "Fleet");
  await row(/Van 8 .*FMB920/);
  await page.click("link", "Account");
  for (const label of ["Group", "Model"]) {
    await page.user.click(await screen.findByLabelText(label));
    await vi.waitFor(() => {
      const { checked, disabled } = screen.getByLabelText<HTMLInputElement>(label);
      expect(checked || disabled).toBe(false);
    });
  }
  expect(server.user?.attributes["console.fleetColumns"]).toEqual(["number"]);
});

test("filters are in the address, and back undoes them", async () => {
  const page = await openPage("/fleet?status=offline", fleet());
  const offline = await screen.findByRole("button", { name: "Offline 58" });
  expect(offline.getAttribute("aria-pressed")).toBe("true");
  await page.click("combobox", "Group");
  await page.click("option", "North depot");
  await screen.findByText("29 of 60");
  expect(page.address).toBe("/fleet?status=offline&groupId=3");
  await page.fill("Search name or number", "nowhere");
  await screen.findByText("No vehicle matches");
  await page.click("button", "Clear the filters");
  await screen.findByText("60 vehicles");
  expect(page.address).toBe("/fleet");
  window.history.back();
  await screen.findByText("No vehicle matches");
  window.history.back();
  await vi.waitFor(() =>
    expect(screen.getByRole<HTMLInputElement>("combobox", { name: "Group" }).value).toBe(""),
  );
  expect(page.address).toBe("/fleet?status=offline");
});

test("a vehicle that is somebody else's and one that is none look the same", async () => {
  const server = fleet();
  server.answer("getDevice", refusal(404));
  await openPage("/vehicles/10000", server);
  await screen.findByText("This vehicle does not exist, or is not yours.");
});

test("a vehicle that is added meanwhile appears, with its menu", async () => {
  const server = fleet();
  const page = await openPage("/fleet?keyword=late", server);
  await screen.findByText("No vehicle matches");
  server.devices = [...server.devices, deviceOf(61, { name: "Latecomer", uniqueId: "late1" })];
  // What is known of it is read again.
  server.push({ positions: [positionOf(61)] });
  await vi.advanceTimersByTimeAsync(2000);
  await row(/Latecomer/);
  await page.click("button", "What to do with Latecomer");
  await page.expectAccessible();
  await page.click("menuitem", "Open");
  await screen.findByRole("heading", { name: "Latecomer" });
});

test("a list that could not be read counts no vehicles, until it is there", async () => {
  const server = fleet();
  server.answer("listDevices", () => Promise.reject(new TypeError("no answer")));
  await openPage("/fleet", server);
  const listed = await screen.findByRole("region", { name: "Vehicles" });
  await within(listed).findByRole("status", { name: "Loading" });
  expect(listed.textContent).not.toContain("vehicles");
  server.answer("listDevices", server.devices);
  await vi.advanceTimersByTimeAsync(31_000);
  await screen.findByText("60 vehicles");
});

test("a zone is found by its name, and shown on the map", async () => {
  const server = fleet();
  server.zones = [zoneOf(4, { name: "Long quay" }), zoneOf(5, { name: "Yard" })];
  const page = await openPage("/fleet", server);
  await screen.findByText("60 vehicles");
  expect(screen.queryByRole("list", { name: "Zones" })).toBeNull();
  await page.user.type(screen.getByRole("searchbox"), "quay");
  const found = within(await screen.findByRole("list", { name: "Zones" }));
  expect(found.getAllByRole("link").map(({ textContent }) => textContent)).toEqual(["Long quay"]);
  await page.expectAccessible();
  await page.click("link", "Long quay");
  await page.expectAddress(/^\/zones\/4/);
});

test("chips count the vehicles of each state, as they change", async () => {
  const server = fleet();
  server.devices[59] = deviceOf(60);
  const page = await openPage("/fleet", server);
  const chips = within(await screen.findByRole("group", { name: "Status" }));
  const counted = () => chips.getAllByRole("button").map(({ textContent }) => textContent);
  await screen.findByText("60 vehicles");
  await vi.waitFor(() =>
    expect(counted()).toEqual(["All 60", "Moving 1", "Standing 1", "Offline 57", "Never heard 1"]),
  );
  server.report(positionOf(8, { speed: 20 }));
  await vi.advanceTimersByTimeAsync(1100);
  await chips.findByRole("button", { name: "Moving 2" });
  await page.fill("Search name or number", "Van 7");
  await chips.findByRole("button", { name: "Moving 1" });
  await page.click("button", "Standing 0");
  await screen.findByText("No vehicle matches");
});

test("a vehicle that moved and was not heard of since is not said to move", async () => {
  const server = fleet();
  const page = await openPage("/fleet", server);
  await row(/Van 7 .*Moving · 56 km\/h/);
  await vi.advanceTimersByTimeAsync(300_000);
  await row(/Van 7 .*Last heard 5 min ago · was moving 56 km\/h/);
  await page.click("button", "Silent 1");
  await screen.findByText("1 of 60");
  await page.click("link", /Van 7/);
  const panel = within(await screen.findByRole("complementary", { name: "Vehicle" }));
  await panel.findByText("Silent");
  expect(panel.queryByText("Moving")).toBeNull();
  await panel.findByText("Last heard 5 min ago · was moving 56 km/h");
});

test("rows and panel say where a vehicle is: its zone, else the words of the server", async () => {
  const server = fleet();
  server.zones = [zoneOf(4, { name: "Long quay" })];
  server.positions = [positionOf(7, { geofenceIds: [4] }), positionOf(8)];
  server.answer("listDevicePlaces", [
    { deviceId: 7, place: "Berlin" },
    { deviceId: 8, place: "Potsdam, 3 km NE" },
  ]);
  const page = await openPage("/fleet", server);
  await row(/Van 8 .*Standing · Potsdam, 3 km NE/);
  await page.user.type(screen.getByRole("searchbox"), "Van 7");
  // The zones are read where the search or the map shows them.
  await row(/Van 7 .*Standing · Long quay/);
  await page.click("link", /Van 7/);
  const panel = within(await screen.findByRole("complementary", { name: "Vehicle" }));
  await panel.findByText("Long quay");
  await panel.findByText("52.50000, 13.40000");
  await page.expectAccessible();
});

test("the panel says the state first, then the first act, and the others in a menu", async () => {
  const server = fleet();
  const page = await openPage("/vehicles/7", server);
  const panel = within(await screen.findByRole("complementary", { name: "Vehicle" }));
  const acts = await panel.findByRole("navigation", { name: "Parts of Van 7" });
  const state = panel.getByText("Moving");
  expect(state.compareDocumentPosition(acts) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  // Its protocol has no video.
  expect([...acts.querySelectorAll(".primary")].map(({ textContent }) => textContent)).toEqual(["History"]);
  await page.click("button", "More: Van 7");
  await page.click("menuitem", "Settings");
  await page.expectAddress("/vehicles/7/settings");
});

test("archived vehicles are out of sight, and their history is reached by a filter", async () => {
  const server = fleet();
  server.devices = [
    ...server.devices.slice(0, 3),
    deviceOf(70, { name: "Old bus", disabled: true, attributes: { "console.archived": true } }),
    deviceOf(71, { name: "New bus", disabled: true }),
  ];
  const page = await openPage("/fleet", server);
  await row(/^New bus/);
  expect(screen.queryByRole("link", { name: /^Old bus/ })).toBeNull();
  await page.click("button", "Archived 1");
  await page.expectAddress("/fleet?status=archived");
  await row(/^Old bus/);
  expect(screen.queryByRole("link", { name: /^New bus/ })).toBeNull();
  await page.click("link", /^Old bus/);
  const history = await screen.findByRole("link", { name: /^History/ });
  expect(history.getAttribute("href")).toMatch(/^\/vehicles\/70\/history/);
  await page.expectAccessible();
});
