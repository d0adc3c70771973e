import { fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { Device } from "../../../api/types";
import { openPage } from "../../../testing/page";
import { deviceOf, positionOf, serverOf, userOf } from "../../../testing/records";
import { answerOf, FakeServer, refusal } from "../../../testing/server";

/** A server with a vehicle of which each edit is another version. */
function withVan(): FakeServer {
  const server = new FakeServer();
  server.devices = [
    deviceOf(9, {
      uniqueId: "van9",
      phone: "+351 1",
      groupId: 4,
      attributes: { plate: "007", seats: 5, speedLimit: 20 },
    }),
  ];
  server.answer("listGroups", [{ id: 4, name: "North", groupId: 0, attributes: {} }]);
  const version = () => `"${btoa(JSON.stringify(server.devices))}"`;
  server.answer("getDevice", () => {
    const [van] = server.devices;
    return van ? answerOf<"getDevice">(van, { ETag: version() }) : refusal(404);
  });
  server.answer("updateDevice", ({ body, headers }) => {
    if (headers.get("If-Match") !== version()) return refusal(412);
    const saved = { ...deviceOf(9), ...(body as Device) };
    server.saveDevice(saved);
    return saved;
  });
  server.answer("deleteDevice", () => {
    server.devices = [];
    return null;
  });
  return server;
}

test("settings are saved on top of another edit, and the vehicle is deleted", async () => {
  const server = withVan();
  const [before] = server.devices;
  const page = await openPage("/vehicles/9/settings", server);
  const save = await screen.findByRole<HTMLButtonElement>("button", { name: "Save" });
  expect(save.disabled).toBe(true);
  expect(screen.getByLabelText<HTMLInputElement>("Speed limit, km/h").value).toBe("37.04");
  await page.fill("Name", "Van Nine");
  await page.user.selectOptions(screen.getByLabelText("Category"), "truck");
  await page.fill("Cameras", "four");
  expect((await screen.findByRole("alert")).textContent).toBe("A number from 0 to 31 is needed.");
  expect(save.disabled).toBe(true);
  await page.fill("Cameras", "4");
  await page.fill("Camera 4", "tail lift");
  await page.fill("Value of seats", "6");
  await page.click("button", "Add an attribute");
  await page.fill("Name of attribute 3", "card");
  await page.fill("Value of card", "0012");
  await page.expectAccessible();

  server.devices = server.devices.map((each) => ({ ...each, phone: "+351 2", contact: "Ana" }));
  await page.user.click(save);
  const conflict = await screen.findByRole("dialog", { name: "Changed meanwhile" });
  expect(conflict.textContent).toContain("It changed: contact and phone.");
  await page.click("button", "Save mine on top");
  await screen.findByText("Saved");
  await screen.findByRole("heading", { name: "Van Nine" });
  await waitFor(() => expect(save.disabled).toBe(true));
  expect(server.devices).toEqual([
    {
      ...before,
      name: "Van Nine",
      category: "truck",
      phone: "+351 2",
      contact: "Ana",
      attributes: {
        plate: "007",
        seats: 6,
        speedLimit: 20,
        channels: 4,
        cameras: { "4": "tail lift" },
        card: "0012",
      },
    },
  ]);

  await page.click("button", "Delete the vehicle");
  await screen.findByRole("dialog", { name: "Delete Van Nine?" });
  expect(document.activeElement?.textContent).toBe("Cancel");
  await page.press("{Enter}");
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(server.asked("deleteDevice")).toEqual([]);
  await page.click("button", "Delete the vehicle");
  const question = within(await screen.findByRole("dialog"));
  await page.user.click(question.getByRole("button", { name: "Delete the vehicle" }));
  await screen.findByText("Van Nine is deleted.");
  expect(screen.queryByRole("link", { name: "Van Nine" })).toBeNull();
  expect(page.address).toBe("/fleet");
});

test("a default of the server takes the settings from nobody unless it is forced", async () => {
  const server = withVan();
  server.user = userOf({ administrator: false });
  server.answer("getServer", serverOf({ deviceReadonly: true }));
  await openPage("/vehicles/9/settings", server);
  await screen.findByRole("link", { name: "Settings" });
});

test("what the server forces takes the settings from all but administrators", async () => {
  const server = withVan();
  server.user = userOf({ administrator: false });
  server.answer("getServer", serverOf({ deviceReadonly: true, forceSettings: true }));
  await openPage("/vehicles/9/settings", server);
  await screen.findByText("You may not change vehicles.");
});

test("who may not change vehicles has no settings", async () => {
  const server = withVan();
  server.user = userOf({ administrator: false, deviceReadonly: true });
  await openPage("/vehicles/9/settings", server);
  await screen.findByText("You may not change vehicles.");
  const tabs = within(await screen.findByRole("navigation", { name: /^Parts of/ }));
  await tabs.findByRole("link", { name: "Commands" });
  expect(tabs.queryByRole("link", { name: "Settings" })).toBeNull();
});

test("what was counted goes on from what is entered, in the reader's units", async () => {
  const server = withVan();
  server.user = userOf({ attributes: { distanceUnit: "mi" } });
  server.positions = [positionOf(9, { attributes: { totalDistance: 160_934.4, hours: 7_200_000 } })];
  server.answer("setAccumulators", null);
  const page = await openPage("/vehicles/9/settings", server);
  const distance = await screen.findByLabelText<HTMLInputElement>("Distance, mi");
  expect(distance.value).toBe("100");
  expect(screen.getByLabelText<HTMLInputElement>("Engine hours").value).toBe("2");
  const act = screen.getByRole("button", { name: "Count from here" });
  expect(act).toHaveProperty("disabled", true);
  await page.fill("Engine hours", "-1");
  expect(act).toHaveProperty("disabled", true);
  await page.fill("Engine hours", "3.5");
  await page.user.click(act);
  await screen.findByText("Saved");
  expect(server.asked("setAccumulators")[0]?.body).toEqual({ hours: 12_600_000 });
  server.answer("setAccumulators", refusal(400, "the device has no position yet"));
  await page.fill("Distance, mi", "200");
  await page.user.click(act);
  await screen.findByText("The device has no position yet.");
  await page.expectAccessible();
});

test("a vehicle that was never heard of has counted nothing", async () => {
  await openPage("/vehicles/9/settings", withVan());
  await screen.findByRole("heading", { name: "Delete positions" });
  expect(screen.queryByRole("heading", { name: "What was counted" })).toBeNull();
});

test("the positions of a span are deleted after a question", async () => {
  const server = withVan();
  server.answer("deletePositions", null);
  const page = await openPage("/vehicles/9/settings", server);
  const part = within(
    (await screen.findByRole("heading", { name: "Delete positions" })).closest("section") ?? document.body,
  );
  const act = part.getByRole("button", { name: "Delete positions…" });
  fireEvent.input(part.getByLabelText("From"), { target: { value: "2026-06-15T10:00" } });
  fireEvent.input(part.getByLabelText("To"), { target: { value: "2026-06-15T09:00" } });
  expect(act).toHaveProperty("disabled", true);
  fireEvent.input(part.getByLabelText("To"), { target: { value: "2026-06-15T11:00" } });
  await waitFor(() => expect(act).toHaveProperty("disabled", false));
  await page.user.click(act);
  const question = await screen.findByRole("dialog");
  await page.user.click(within(question).getByRole("button", { name: "Delete" }));
  await screen.findByText("The positions were deleted");
  const [asked] = server.asked("deletePositions");
  expect(Object.fromEntries(asked?.query ?? [])).toEqual({
    deviceId: "9",
    from: "2026-06-15T10:00:00.000Z",
    to: "2026-06-15T11:00:00.000Z",
  });
});

test("a picture is uploaded when it is chosen, refused in words, and the vehicle's once that is saved", async () => {
  const server = withVan();
  server.answer("saveDeviceImage", () => refusal(415, "this is no picture"));
  const page = await openPage("/vehicles/9/settings", server);
  const field = await screen.findByLabelText<HTMLInputElement>("File");
  await page.user.upload(field, new File(["no"], "a.png", { type: "image/png" }));
  expect((await screen.findByRole("alert")).textContent).toBe("This is no picture.");
  server.answer("saveDeviceImage", "device.png");
  await page.user.upload(field, new File(["\u0089PNG"], "b.png", { type: "image/png" }));
  const picture = await screen.findByRole<HTMLImageElement>("img", { name: "Van 9" });
  expect(new URL(picture.src).pathname).toBe("/api/media/van9/device.png");
  await page.expectAccessible();
  await page.click("button", "Save");
  await waitFor(() => expect(server.devices[0]?.attributes.deviceImage).toBe("device.png"));
  expect(server.devices[0]?.attributes.plate).toBe("007");

  await page.click("button", "Remove the picture");
  await page.click("button", "Save");
  await waitFor(() => expect(server.devices[0]?.attributes).not.toHaveProperty("deviceImage"));
});
