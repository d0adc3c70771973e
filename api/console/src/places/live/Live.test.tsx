import { screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { deviceOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

test("a wall is put together and saved", async () => {
  const server = new FakeServer();
  server.answer("getLivePlaylist", refusal(404));
  const cameras = { status: "online", attributes: { channels: 2 } };
  server.devices = [deviceOf(303, cameras), deviceOf(304, cameras)];
  const page = await openPage("/live", server);
  for (const { id, name } of server.devices) {
    await page.user.type(await screen.findByRole("combobox", { name: "Add a vehicle" }), name);
    await page.click("option", new RegExp(name));
    await screen.findByRole("article", { name: `Van ${id}, camera 2` });
  }
  const wall = "/live?tile=303.1&tile=303.2&tile=304.1&tile=304.2";
  expect(page.address).toBe(wall);
  await page.expectAccessible();
  await page.click("button", "Save this wall");
  await page.fill("Name of the wall", "Depot");
  await page.click("button", "Save");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(server.user?.attributes["console.walls"]).toEqual([{ name: "Depot", query: wall.split("?")[1] }]);
  await page.click("button", "Empty the wall");
  await screen.findByText("No cameras on the wall yet");
  await page.user.selectOptions(screen.getByLabelText("Saved walls"), "Depot");
  await screen.findByRole("article", { name: "Van 304, camera 2" });
  expect(page.address).toBe(wall);
});
