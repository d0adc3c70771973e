import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { deviceOf, positionOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

function serverOf(...devices: ReturnType<typeof deviceOf>[]): FakeServer {
  const server = new FakeServer();
  server.answer("getLivePlaylist", refusal(404));
  server.devices = devices;
  return server;
}

const cameras = { status: "online", attributes: { channels: 2 } };

test("a wall is put together of the cameras of vehicles that are online, and saved", async () => {
  const server = serverOf(deviceOf(303, cameras), deviceOf(304, cameras));
  const page = await openPage("/live", server);
  await page.expectAccessible();
  await page.click("button", "All cameras of Van 303");
  await screen.findByRole("article", { name: "Van 303, camera 2" });
  await page.user.type(await screen.findByRole("combobox", { name: "Add a vehicle" }), "Van 304");
  await page.click("option", /Van 304/);
  await screen.findByRole("article", { name: "Van 304, camera 2" });
  const wall = "/live?tile=303.1&tile=303.2&tile=304.1&tile=304.2";
  expect(page.address).toBe(wall);
  await page.expectAccessible();
  await page.click("button", "Save this wall");
  await page.fill("Name of the wall", "Depot");
  await page.click("button", "Save");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(server.user?.attributes["console.walls"]).toEqual([{ name: "Depot", query: wall.split("?")[1] }]);
  await page.click("button", "Empty the wall");
  // Saved walls come first, then single cameras.
  await page.click("link", /Depot\s*4 pictures/);
  await screen.findByRole("article", { name: "Van 304, camera 2" });
  expect(page.address).toBe(wall);
});

test("a wall has a map of the vehicle whose tile has the focus, if the reader wants one", async () => {
  const server = serverOf(deviceOf(303, cameras), deviceOf(304, cameras));
  server.positions = [positionOf(303, { speed: 10 }), positionOf(304, { speed: 0 })];
  const page = await openPage("/live?tile=303.1&tile=304.1", server);
  const second = await screen.findByRole("article", { name: "Van 304, camera 1" });
  expect(screen.queryByRole("complementary", { name: "Where it is now" })).toBeNull();
  await page.click("button", "Map");
  const beside = await screen.findByRole("complementary", { name: "Where it is now" });
  within(beside).getByRole("link", { name: "Van 303" });
  within(second).getAllByRole("button")[0]?.focus();
  await within(beside).findByRole("link", { name: "Van 304" });
  await page.expectAccessible();
  // Kept in this browser.
  const again = await openPage(page.address, server);
  await screen.findByRole("complementary", { name: "Where it is now" });
  await again.click("button", "Map");
  expect(screen.queryByRole("complementary", { name: "Where it is now" })).toBeNull();
});

test("vehicles that are offline or have no cameras are left out, and the search finds those that are offline", async () => {
  const server = serverOf(
    deviceOf(1, { ...cameras, name: "Online" }),
    deviceOf(2, { status: "offline", name: "Offline", attributes: { channels: 1 } }),
    deviceOf(3, { ...cameras, name: "Blind", attributes: { channels: 0 } }),
    deviceOf(4, { status: "online", name: "Phone" }),
  );
  server.positions = [positionOf(4, { protocol: "osmand" })];
  const page = await openPage("/live", server);
  await screen.findByRole("button", { name: "All cameras of Online" });
  const names = () => screen.getAllByRole("listitem").map((row) => within(row).getByRole("link").textContent);
  await waitFor(() => expect(names()).toEqual(["Online"]));
  await page.user.type(screen.getByRole("searchbox", { name: "Search vehicles" }), "off");
  await page.click("button", "Offline, camera 1");
  await screen.findByRole("article", { name: "Offline, camera 1" });
  expect(page.address).toBe("/live?tile=2.1");
});

test("without vehicles online the page says what can be done", async () => {
  const page = await openPage("/live", serverOf(deviceOf(1, { ...cameras, status: "offline" })));
  await screen.findByText("No vehicle with cameras is online");
  await page.user.type(screen.getByRole("searchbox", { name: "Search vehicles" }), "Bus");
  await screen.findByText("No vehicle with cameras is called so");
});

test("cameras have the names of their device, else of its group, and are renamed at the tile", async () => {
  const named = deviceOf(7, {
    ...cameras,
    groupId: 5,
    attributes: { channels: 2, cameras: { "1": "front" } },
  });
  const server = serverOf(named);
  const group = { id: 5, name: "Vans", groupId: 0, attributes: { cameras: { "1": "bow", "2": "cabin" } } };
  server.answer("listGroups", [group]);
  server.answer("updateDevice", ({ body }) => {
    server.saveDevice(body as typeof named);
    return body as typeof named;
  });
  const page = await openPage("/live?tile=7.1&tile=7.2", server);
  const tile = await screen.findByRole("article", { name: "Van 7, front" });
  await screen.findByRole("article", { name: "Van 7, cabin" });
  await page.user.dblClick(within(tile).getByText("front"));
  const field = await screen.findByLabelText("Name of camera 1");
  await page.user.clear(field);
  await page.user.type(field, " windscreen ");
  await page.click("button", "Save");
  await screen.findByRole("article", { name: "Van 7, windscreen" });
  expect(server.asked("updateDevice")[0]?.body).toMatchObject({
    attributes: { channels: 2, cameras: { "1": "windscreen" } },
  });
  // What another reader calls it is seen at once.
  server.saveDevice({ ...named, attributes: { channels: 2 } });
  await screen.findByRole("article", { name: "Van 7, bow" });
});

test("who may not change vehicles is not asked for a name", async () => {
  const server = serverOf(deviceOf(7, cameras));
  if (server.user) server.user = { ...server.user, administrator: false, deviceReadonly: true };
  const page = await openPage("/live?tile=7.1", server);
  await page.user.dblClick(await screen.findByText("Camera 1"));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("a key leads to the vehicles that a wall can have more of", async () => {
  const page = await openPage("/live?tile=7.1", serverOf(deviceOf(7, cameras)));
  await screen.findByRole("article", { name: /Van 7/ });
  await page.press("/");
  expect(document.activeElement).toBe(screen.getByRole("combobox", { name: "Add a vehicle" }));
  expect(page.address).toBe("/live?tile=7.1");
});

test("a server without vehicles offers to connect a tracker", async () => {
  const page = await openPage("/live", serverOf());
  await screen.findByText("No vehicles yet");
  expect(screen.getByRole("link", { name: "Connect a tracker" }).getAttribute("href")).toBe("/connect");
  await page.expectAccessible();
});
