import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { Geofence } from "../../api/types";
import { openPage } from "../../testing/page";
import { answerOf, FakeServer, refusal } from "../../testing/server";

/** A server that keeps zones. */
function keeping(): FakeServer {
  const server = new FakeServer();
  server.answer("createGeofence", ({ body }) => {
    const made = { ...(body as Geofence), id: 4 };
    server.zones = [...server.zones, made];
    return made;
  });
  const version = () => `"${btoa(JSON.stringify(server.zones))}"`;
  server.answer("getGeofence", ({ ids }) => {
    const zone = server.zones.find(({ id }) => id === ids[0]);
    return zone ? answerOf<"getGeofence">(zone, { ETag: version() }) : refusal(404);
  });
  server.answer("updateGeofence", ({ body, headers }) => {
    if (headers.get("If-Match") !== version()) return refusal(412);
    server.zones = [body as Geofence];
    return body as Geofence;
  });
  server.answer("deleteGeofence", () => {
    server.zones = [];
    return null;
  });
  return server;
}

test("a zone is made without a mouse, two edits of it are joined, and it is deleted", async () => {
  const server = keeping();
  const page = await openPage("/zones/new?kind=circle&at=13/52.5/13.4", server);
  (await screen.findByRole("button", { name: "Enter numbers instead" })).focus();
  await page.press("{Enter}");
  // The focus moves on by itself, once the fields are there.
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("Name")));
  await page.fill("Latitude", "-33.9");
  await page.fill("Longitude", "18.425");
  await page.fill("Radius (m)", "450");
  await page.fill("Name", "Quay");
  await page.press("{Enter}");
  await screen.findByRole("heading", { name: "Quay" });
  const [quay] = server.zones;
  expect(quay?.area).toBe("CIRCLE (-33.9 18.425, 450)");
  await page.expectAddress("/zones/4?at=13/52.5/13.4");

  const theirs = {
    description: "North side",
    attributes: { color: "#aa3300" },
    area: "POLYGON ((1 2, 1 4, 3 4, 3 2), (1.5 2.5, 1.5 3, 2 3))",
  };
  server.zones = server.zones.map((each) => ({ ...each, ...theirs }));
  await page.fill("Name", "Long quay");
  await page.click("button", "Save");
  const conflict = await screen.findByRole("dialog");
  expect(conflict.textContent).toContain("It changed: shape, color, and description.");
  await page.expectAccessible();
  await page.click("button", "Save mine on top");
  await screen.findByRole("heading", { name: "Long quay" });
  expect(server.zones).toEqual([{ ...quay, ...theirs, name: "Long quay" }]);

  await page.click("button", "Delete");
  const question = within(await screen.findByRole("dialog", { name: "Delete the zone Long quay?" }));
  expect(document.activeElement?.textContent).toBe("Cancel");
  await page.user.click(question.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(screen.queryByRole("complementary", { name: "Zone" })).toBeNull());
  expect(server.zones).toEqual([]);
});
