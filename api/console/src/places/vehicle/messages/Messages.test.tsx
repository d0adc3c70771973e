import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../../testing/page";
import { deviceOf, userOf } from "../../../testing/records";
import { FakeServer } from "../../../testing/server";
import { addMessages, MOST, spacedHex, textOf } from "./meaning";

const LOGIN = "78780d01035335801778406200015e940d0a";

function withDevice(): FakeServer {
  const server = new FakeServer();
  server.user = userOf({ administrator: true });
  server.devices = [deviceOf(1, { name: "Van 401" })];
  return server;
}

test("messages are watched while the place is open, and explained when they are opened", async () => {
  const server = withDevice();
  server.answer("explainDeviceMessage", [
    { offset: 0, length: 2, bytes: "7878", kind: "layout", values: {} },
    { offset: 2, length: 4, bytes: "026bfd1c", kind: "value", values: { latitude: 22.5731, speed: 10 } },
    { offset: 6, length: 1, bytes: "46", kind: "value", values: { alarm: null, ignition: true } },
    { offset: 7, length: 1, bytes: "05", kind: "value", values: { "2.cellTowers.1.cellId": 8120 } },
    { offset: 8, length: 2, bytes: "5e94", kind: "check", values: {} },
  ]);
  const page = await openPage("/vehicles/1/messages", server);
  await screen.findByText("Waiting for messages");
  await waitFor(() => expect(server.said).toEqual([{ logs: true, deviceId: 1 }]));
  server.push({
    logs: [
      { deviceId: 1, protocol: "gt06", data: LOGIN },
      { deviceId: 2, protocol: "gt06", data: "00" },
      { deviceId: 1, protocol: "gt06", data: "6f6b0d0a", sent: true },
    ],
  });
  const list = await screen.findByRole("list", { name: "Messages of Van 401" });
  const [answer, login] = within(list).getAllByRole("button");
  expect(answer?.textContent).toMatch(/To the device4 bytes · gt06ok\\r\\n$/);
  expect(login?.textContent).toMatch(/From the device18 bytes · gt0678 78 0d 01/);
  login?.click();
  const table = await screen.findByRole("table");
  const cells = within(table)
    .getAllByRole("row")
    .slice(1)
    .map((row) => within(row).getAllByRole("cell").at(-1)?.textContent);
  expect(cells).toEqual([
    "How the rest is read",
    "Latitude 22.573100°Speed 19 km/h",
    "Alarm not nowIgnition on",
    "2 · Radio cell 1, Cell id 8120",
    "Check value",
  ]);
  expect(server.asked("explainDeviceMessage").map(({ ids, body }) => [ids, body])).toEqual([
    [[1], { protocol: "gt06", data: LOGIN }],
  ]);
  await page.expectAccessible();
  await page.click("link", "Settings");
  await waitFor(() => expect(server.said.at(-1)).toEqual({ logs: false }));
});

test("who is no administrator is told so, and asks for nothing", async () => {
  const server = withDevice();
  server.user = userOf({ administrator: false });
  await openPage("/vehicles/1/messages", server);
  await screen.findByText("You may not see messages.");
  expect(server.said).toEqual([]);
  expect(screen.queryByRole("link", { name: "Messages" })).toBeNull();
});

test("the newest messages are kept", () => {
  const records = Array.from({ length: MOST + 5 }, (_, at) => ({ deviceId: 1, data: `0${at % 10}` }));
  const kept = addMessages(addMessages([], records, 1, 1000), [{ deviceId: 1, data: "ff" }], 1, 2000);
  expect([kept.length, kept[0]?.data, kept[0]?.time, kept[1]?.data]).toEqual([MOST, "ff", 2000, "04"]);
  expect(addMessages(kept, [{ deviceId: 2 }], 1, 3000)).toBe(kept);
});

test("bytes are shown as text where they are some", () => {
  expect(textOf("2a48510d0a")).toBe("*HQ\\r\\n");
  expect(textOf("2a00")).toBeNull();
  expect(textOf("")).toBeNull();
  expect(spacedHex("78780d")).toBe("78 78 0d");
});
