import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import type { Calendar, Command, ScheduledCommand, ScheduledCommandRun } from "../../api/types";
import { calendarText, encoded } from "../../calendars/blocks";
import { openPage } from "../../testing/page";
import { deviceOf, positionOf, userOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

const HOUR_MS = 3_600_000;
const NIGHTS: Calendar = {
  id: 9,
  name: "Nights",
  data: encoded(
    calendarText({
      blocks: [{ days: [0, 1, 2, 3, 4], from: "22:00", to: "06:00" }],
      exceptions: [{ date: "2027-01-01", open: null }],
      zone: "Europe/Lisbon",
    }),
  ),
  attributes: {},
};
const LOCK: Command = {
  id: 4,
  deviceId: 0,
  type: "engineStop",
  description: "Lock engines",
  textChannel: false,
  attributes: {},
};

function scheduleOf(fields: Partial<ScheduledCommand> = {}): ScheduledCommand {
  return {
    id: 3,
    name: "Night lock",
    description: null,
    calendarId: 9,
    active: true,
    onStart: [{ commandId: 4, delaySeconds: 0 }],
    onEnd: [],
    attributes: {},
    deviceIds: [1],
    groupIds: [],
    lastRun: null,
    ownerId: 1,
    ...fields,
  };
}

function runOf(id: number, fields: Partial<ScheduledCommandRun> = {}): ScheduledCommandRun {
  return {
    id,
    scheduledCommandId: 3,
    phase: "start",
    deviceId: 1,
    commandId: 4,
    time: new Date(Date.now() - HOUR_MS).toISOString(),
    status: "sent",
    reason: null,
    detail: null,
    ...fields,
  };
}

/** A server with a schedule of two vans, whose next window begins in an hour. */
function scheduling(...stored: ScheduledCommand[]): FakeServer {
  const server = new FakeServer();
  let rows = stored;
  server.devices = [deviceOf(1, { name: "Van" }), deviceOf(2, { name: "Truck", groupId: 5 })];
  server.positions = [positionOf(1, { speed: 20 }), positionOf(2)];
  server.answer("listGroups", [{ id: 5, name: "Heavy", groupId: 0, attributes: {} }]);
  server.answer("listCalendars", [NIGHTS]);
  server.answer("getCalendar", NIGHTS);
  server.answer("listCommands", [LOCK]);
  server.answer("listWindows", () => [
    {
      startTime: new Date(Date.now() + HOUR_MS).toISOString(),
      endTime: new Date(Date.now() + 9 * HOUR_MS).toISOString(),
    },
  ]);
  server.answer("listScheduledCommands", () => rows);
  server.answer("getScheduledCommand", ({ ids }) => rows.find(({ id }) => id === ids[0]) ?? refusal(404));
  server.answer("createScheduledCommand", ({ body }) => {
    const made = { ...scheduleOf({ deviceIds: [] }), ...(body as ScheduledCommand), id: 8 };
    rows = [...rows, made];
    return made;
  });
  server.answer("updateScheduledCommand", ({ body }) => {
    const changed = body as ScheduledCommand;
    rows = rows.map((each) => (each.id === changed.id ? changed : each));
    return changed;
  });
  server.answer("deleteScheduledCommand", ({ ids }) => {
    rows = rows.filter(({ id }) => id !== ids[0]);
    return null;
  });
  server.answer("listScheduledCommandRuns", []);
  server.answer("createPermissions", null);
  server.answer("deletePermissions", null);
  return server;
}

test("the list says when each schedule fires next, for how many vehicles, and that one is off", async () => {
  const server = scheduling(
    scheduleOf({ groupIds: [5] }),
    scheduleOf({ id: 4, name: "Day lock", active: false, calendarId: 77, lastRun: "2026-06-14T22:00:00Z" }),
  );
  const page = await openPage("/schedules", server);
  const row = (await screen.findByRole("link", { name: "Night lock" })).closest("li");
  await waitFor(() => expect(row?.textContent).toMatch(/Nights · 2 vehicles/));
  await waitFor(() => expect(row?.textContent).toMatch(/Begins .*never run/));
  const off = screen.getByRole("link", { name: "Day lock" }).closest("li");
  expect(off?.textContent).toMatch(/Switched off.*Calendar 77, which you do not see.*last run/);
  await page.expectAccessible();
});

test("without any the page says what schedules are for, and makes one with its calendar and commands", async () => {
  const server = scheduling();
  const page = await openPage("/schedules", server);
  await screen.findByText("No schedule yet");
  await page.click("button", "New schedule");
  const dialog = await screen.findByRole("dialog");
  await page.user.type(within(dialog).getByLabelText("Name"), "Weekend");
  await page.user.type(within(dialog).getByRole("combobox", { name: "Calendar" }), "nig");
  await page.user.click(await within(dialog).findByRole("option", { name: /Nights/ }));
  const start = within(within(dialog).getByRole("group", { name: "When its times begin, send" }));
  await page.user.click(start.getByRole("combobox", { name: "Saved command" }));
  await page.user.click(await start.findByRole("option", { name: /Lock engines/ }));
  await page.user.click(within(dialog).getByRole("button", { name: "Save" }));
  await page.expectAddress("/schedules/8");
  expect(server.asked("createScheduledCommand")[0]?.body).toMatchObject({
    name: "Weekend",
    calendarId: 9,
    onStart: [{ commandId: 4, delaySeconds: 0 }],
    onEnd: [],
  });
  await screen.findByText("For no vehicle yet");
});

test("what the server refuses of a new one stands beside its field", async () => {
  const server = scheduling();
  server.answer("createScheduledCommand", refusal(400, "calendarId: no access to it, or no such"));
  const page = await openPage("/schedules", server);
  await page.click("button", "New schedule");
  const dialog = await screen.findByRole("dialog");
  await page.user.type(within(dialog).getByLabelText("Name"), "Weekend");
  await page.user.click(within(dialog).getByRole("button", { name: "Save" }));
  await within(dialog).findByText("No access to it, or no such");
  expect(page.address).toBe("/schedules");
});

test("a schedule shows what it sends when, what became of it in words, and runs after a question", async () => {
  const server = scheduling(scheduleOf());
  server.answer("listScheduledCommandRuns", [
    runOf(1),
    runOf(2, { deviceId: 2, status: "skipped", reason: "offline" }),
  ]);
  server.answer("runScheduledCommand", [runOf(3, { phase: "manual", status: "pending" })]);
  const page = await openPage("/schedules/3", server);
  const edges = await screen.findByRole("list", { name: "What is sent when" });
  expect(
    within(edges)
      .getAllByRole("listitem")
      .map((each) => each.textContent),
  ).toEqual([
    expect.stringMatching(/begins.*Lock engines → 1 vehicle · next/),
    expect.stringMatching(/ends.*sends nothing/),
  ]);
  await screen.findByText("Not sent: the vehicle was offline");
  // Only the list that holds commands can be run.
  expect(screen.queryByRole("button", { name: "Run the end now" })).toBeNull();
  await page.click("button", "Run the beginning now");
  const question = await screen.findByRole("dialog");
  within(question).getByText("Lock engines is sent to 1 vehicle. 1 of them is driving.");
  await page.expectAccessible();
  server.answer("listScheduledCommandRuns", [runOf(1), runOf(3, { phase: "manual", status: "pending" })]);
  await page.user.click(within(question).getByRole("button", { name: "Send now" }));
  await screen.findByText("To come");
  expect(server.asked("runScheduledCommand")[0]?.body).toEqual({ phase: "start" });
});

test("what becomes of runs is read again while the page is looked at", async () => {
  const server = scheduling(scheduleOf());
  await openPage("/schedules/3", server);
  await screen.findByText("It has not run yet.");
  server.answer("listScheduledCommandRuns", [runOf(1, { status: "delivered" })]);
  await vi.advanceTimersByTimeAsync(11_000);
  await screen.findByText("Sent when the vehicle came");
});

test("it is switched off and on, and a refusal leaves it as it was", async () => {
  const server = scheduling(scheduleOf());
  const page = await openPage("/schedules/3", server);
  await page.click("button", "Switch off");
  await screen.findByRole("button", { name: "Switch on" });
  expect(server.asked("updateScheduledCommand")[0]?.body).toMatchObject({ active: false });
  server.answer("updateScheduledCommand", refusal(400, "its owner may send no commands"));
  await page.click("button", "Switch on");
  await screen.findByText("Its owner may send no commands.");
  screen.getByRole("button", { name: "Switch on" });
});

test("vehicles are chosen by themselves and by groups, and only what changed is sent", async () => {
  const server = scheduling(scheduleOf());
  const page = await openPage("/schedules/3", server);
  await page.click("button", "Choose vehicles");
  const dialog = await screen.findByRole("dialog");
  await page.user.click(within(dialog).getByRole("button", { name: "Remove Van" }));
  await page.user.type(within(dialog).getByRole("combobox", { name: /^Groups/ }), "hea");
  await page.user.click(await within(dialog).findByRole("option", { name: /Heavy/ }));
  within(dialog).getByText("1 vehicle");
  await page.user.click(within(dialog).getByRole("button", { name: "Save" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(server.asked("deletePermissions").map(({ body }) => body)).toEqual([
    [{ deviceId: 1, scheduledCommandId: 3 }],
  ]);
  expect(server.asked("createPermissions").map(({ body }) => body)).toEqual([
    [{ groupId: 5, scheduledCommandId: 3 }],
  ]);
});

test("it is deleted after a question, and one that is not there says so", async () => {
  const server = scheduling(scheduleOf());
  let page = await openPage("/schedules/3", server);
  await page.click("button", "Delete");
  const question = await screen.findByRole("dialog");
  await page.user.click(within(question).getByRole("button", { name: "Delete" }));
  await page.expectAddress("/schedules");
  await screen.findByText("No schedule yet");
  page = await openPage("/schedules/3", server);
  await screen.findByText("There is no such schedule, or it is not yours.");
  await page.expectAccessible();
});

test("who may not edit sees it without what changes it", async () => {
  const server = scheduling(scheduleOf());
  server.user = userOf({ administrator: false, readonly: true });
  await openPage("/schedules/3", server);
  await screen.findByRole("list", { name: "What is sent when" });
  for (const name of ["Switch off", "Edit", "Delete", "Choose vehicles"])
    expect(screen.queryByRole("button", { name })).toBeNull();
});

test("calendars are listed with what they say, searched, and shown by week and month with what uses them", async () => {
  const server = scheduling(scheduleOf());
  server.answer("listNotifications", []);
  server.answer("listScheduledReports", [
    { id: 6, description: "Weekly", type: "trips", calendarId: 9, attributes: {} },
  ]);
  const page = await openPage("/calendars", server);
  await screen.findByText("Mon–Fri 22:00–06:00 · 1 day of its own");
  await page.fill("Search calendars", "day");
  await screen.findByText("Nothing matches.");
  await page.fill("Search calendars", "night");
  await page.click("link", "Nights");
  await page.expectAddress("/calendars/9");
  const uses = await screen.findByRole("region", { name: "What uses it" });
  expect((await within(uses).findByRole("link", { name: "Weekly" })).getAttribute("href")).toBe(
    "/reports/scheduled",
  );
  expect(within(uses).getByRole("link", { name: "Night lock" }).getAttribute("href")).toBe("/schedules/3");
  await page.click("button", "Month");
  await page.expectAddress("/calendars/9?view=month");
  await page.click("button", "Later");
  await page.expectAddress(/^\/calendars\/9\?view=month&from=\d{4}-\d\d-01$/);
  await page.expectAccessible();
});
