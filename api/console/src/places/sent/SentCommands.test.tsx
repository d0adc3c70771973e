import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { commandOf, deviceOf, userOf } from "../../testing/records";
import { FakeServer } from "../../testing/server";

function withCommands(): FakeServer {
  const server = new FakeServer();
  server.answer("listCommandTypes", [{ type: "engineStop" }]);
  server.devices = [deviceOf(1, { name: "Van 401" }), deviceOf(2, { name: "Truck 1" })];
  server.answer("listLoggedCommands", ({ query }) =>
    query.get("beforeId")
      ? []
      : [
          commandOf(14, { state: "QUEUED", sentAt: null }),
          commandOf(13, { state: "ANSWERED", answer: "ok", answerOk: true, origin: "TICKET", ticketId: 8 }),
          commandOf(12, {
            deviceId: 2,
            origin: "SCHEDULE",
            userId: 5,
            userName: "Ana",
            description: "Nights",
          }),
          commandOf(11, { state: "REFUSED", reason: "the device is offline" }),
          commandOf(10, { state: "UNKNOWN", origin: "NOTIFICATION", eventId: 33, userId: 0, userName: null }),
        ],
  );
  return server;
}

const rows = async () =>
  within(await screen.findByRole("list", { name: "Sent commands" })).getAllByRole("listitem");

test("each command says who caused it and what became of it", async () => {
  const page = await openPage("/commands", withCommands());
  const texts = (await rows()).map((row) => row.textContent);
  expect(texts).toEqual([
    expect.stringMatching(/^Van 401Stop the engine.*Kept until the vehicle comesby you$/),
    expect.stringMatching(/Done, says the vehicle: okby you · Ticket$/),
    expect.stringMatching(/^Truck 1Nights.*Handed to the vehicleby a schedule of Ana$/),
    expect.stringMatching(/Refused: the device is offlineby you$/),
    expect.stringMatching(/It may have been sentby a notification of somebody · Event$/),
  ]);
  expect(screen.getByRole("link", { name: "Ticket" }).getAttribute("href")).toMatch(/\/tickets\/8$/);
  expect(screen.getByRole("link", { name: "Event" }).getAttribute("href")).toMatch(/\/events\/33$/);
  expect(screen.getByRole("link", { name: "Truck 1" }).getAttribute("href")).toMatch(
    /\/vehicles\/2\/commands$/,
  );
  await page.expectAccessible();
});

test("what becomes of a command is told live, and filters go to the server", async () => {
  const server = withCommands();
  const page = await openPage("/commands?deviceId=1", server);
  await rows();
  expect(server.asked("listLoggedCommands").at(-1)?.query.get("deviceId")).toBe("1");
  server.push({
    commands: [
      commandOf(15, { state: "REFUSED", reason: "no such command" }),
      commandOf(14, { state: "ANSWERED", answerOk: false }),
      commandOf(16, { deviceId: 2 }),
    ],
  });
  await screen.findByText("Refused: no such command");
  await screen.findByText("Not done, says the vehicle");
  expect((await rows())[1]?.textContent).toContain("Not done");
  // The list that came before the filter of the vehicle was asked for without it.
  const before = server.asked("listLoggedCommands").length;
  server.push({ commands: [] });
  await waitFor(() => expect(server.asked("listLoggedCommands").length).toBe(before + 1));
  await page.click("button", "Refused");
  await page.click("button", "7 days");
  await page.expectAddress("/commands?deviceId=1&state=refused&days=7");
  const { query } = server.asked("listLoggedCommands").at(-1) as { query: URLSearchParams };
  expect([query.getAll("state"), Boolean(query.get("from"))]).toEqual([["REFUSED"], true]);
  server.answer("listLoggedCommands", []);
  await page.click("button", "Expired");
  await screen.findByText("Nothing fits the filters");
  await page.click("button", "Clear the filters");
  expect(page.address).toBe("/commands");
  await screen.findByText("No command has been sent yet");
});

test("the log stands beside the form of a vehicle, for those who may read history", async () => {
  const server = withCommands();
  await openPage("/vehicles/1/commands", server);
  expect((await rows()).length).toBe(5);
  const link = screen.getByRole("link", { name: "All commands of the vehicle" });
  expect(link.getAttribute("href")).toMatch(/\/commands\?deviceId=1$/);
});

test("without the right to history there is no log", async () => {
  const server = withCommands();
  server.user = userOf({ administrator: false, disableReports: true });
  await openPage("/vehicles/1/commands", server);
  await screen.findByRole("region", { name: "Kept until the vehicle comes" });
  expect(server.asked("listLoggedCommands")).toEqual([]);
  expect(screen.queryByRole("link", { name: "Sent" })).toBeNull();
});
