import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { WaitingCommand } from "../../../api/types";
import { openPage, type Page } from "../../../testing/page";
import { deviceOf, positionOf, serverOf, userOf } from "../../../testing/records";
import { FakeServer, refusal } from "../../../testing/server";

const PHONE = "+351900000401";
const HANDED = { id: 0, deviceId: 1, description: "", textChannel: false, attributes: {} };

/** A server with a vehicle that is on the line and takes these commands. */
function withVan(...types: string[]): FakeServer {
  const server = new FakeServer();
  server.devices = [deviceOf(1, { name: "Van 401", status: "online", phone: PHONE })];
  server.positions = [positionOf(1)];
  server.answer(
    "listCommandTypes",
    types.map((type) => ({ type })),
  );
  return server;
}

/** Choose by the beginning: a saved command has the name of its type behind its own. */
const choose = (page: Page, name: string) => page.click("option", new RegExp(`^${name}`));

test("what cannot be sent is said at its field, and what the server refuses in its words", async () => {
  const server = withVan("setSpeedLimit", "custom");
  server.answer("getServer", serverOf({ textEnabled: true }));
  const page = await openPage("/vehicles/1/commands", server);
  await choose(page, "Set the speed limit");
  const limit = await screen.findByLabelText("Speed limit, km/h");
  await waitFor(() => expect(document.activeElement).toBe(limit));
  await page.press("300{Enter}");
  expect((await screen.findByRole("alert")).textContent).toBe("This number is not possible here.");
  expect(server.asked("sendCommand")).toEqual([]);
  await page.press("{Escape}");

  server.answer("sendCommand", refusal(400, "data must be hex digits"));
  await choose(page, "Own text");
  await page.fill("Text of the command", "engine off");
  await page.click("button", "Send");
  await screen.findByText("Refused: Data must be hex digits.");

  server.answer("sendCommand", { ...HANDED, type: "custom", textChannel: true });
  await choose(page, "Own text");
  await page.fill("Text of the command", "engine off");
  await page.user.click(screen.getByLabelText(`Send as a text message to ${PHONE}`));
  await page.click("button", "Send");
  await screen.findByText("Handed to the gateway of text messages");
  expect(server.asked("sendCommand").at(-1)?.body).toEqual({
    type: "custom",
    textChannel: true,
    attributes: { data: "engine off" },
    deviceId: 1,
  });
});

test("a command is kept for a vehicle that is offline, cancelled, and answered once it is back", async () => {
  const server = withVan("positionSingle");
  let waiting: WaitingCommand[] = [];
  server.answer("listQueuedCommands", () => waiting);
  server.answer("sendCommand", () => {
    const kept = { id: 7, deviceId: 1, type: "positionSingle", textChannel: false, attributes: {} };
    const now = new Date().toISOString();
    waiting = [{ ...kept, created: now, expires: null, userId: 1, scheduledCommandId: 0 }];
    return kept;
  });
  server.answer("cancelQueuedCommand", () => {
    waiting = [];
    return null;
  });
  const page = await openPage("/vehicles/1/commands", server);
  const queue = within(await screen.findByRole("region", { name: "Kept until the vehicle comes" }));
  server.saveDevice({ ...deviceOf(1, { name: "Van 401" }), status: "offline" });
  await screen.findByText("Never heard");
  await choose(page, "Report the position now");
  await queue.findByText(/by you/);
  await page.user.click(queue.getByRole("button", { name: "Cancel Report the position now" }));
  await queue.findByText("Nothing is kept for this vehicle.");
  await screen.findByText("Cancelled");
  expect(server.asked("cancelQueuedCommand").map(({ ids }) => ids)).toEqual([[7]]);
  await choose(page, "Report the position now");
  await waitFor(() => expect(queue.getAllByRole("listitem")).toHaveLength(1));
  await page.expectAccessible();

  waiting = [];
  server.report(positionOf(1, { id: 2 }));
  await queue.findByText("Nothing is kept for this vehicle.");
  server.report(positionOf(1, { id: 3, attributes: { result: "Position 52.6 13.5" } }));
  await screen.findByText(/The vehicle answers:/);
});

test("who may send saved commands only sees no others", async () => {
  const server = withVan("positionSingle", "custom");
  server.user = userOf({ administrator: false, limitCommands: true });
  const saved = { ...HANDED, id: 5, deviceId: 0, type: "positionSingle", description: "Where are you" };
  server.answer("listSendableCommands", [saved]);
  server.answer("sendCommand", saved);
  const page = await openPage("/vehicles/1/commands", server);
  await screen.findByText(/You may send saved commands only\./);
  expect(screen.getAllByRole("option")).toHaveLength(1);
  expect(server.asked("listCommandTypes")).toEqual([]);
  await choose(page, "Where are you");
  await screen.findByText("Handed to the vehicle");
  expect(server.asked("sendCommand")[0]?.body).toEqual({ id: 5, deviceId: 1 });
});
