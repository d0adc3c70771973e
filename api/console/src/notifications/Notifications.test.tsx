import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import type { Calendar, Notification, NotificationTrial, User } from "../api/types";
import { openPage, type Page } from "../testing/page";
import { deviceOf, eventOf, userOf, zoneOf } from "../testing/records";
import { FakeServer, refusal } from "../testing/server";

const PATH = "/admin/notifications";

function notificationOf(id: number, fields: Partial<Notification> = {}): Notification {
  return {
    id,
    type: "deviceOverspeed",
    description: null,
    always: true,
    web: true,
    mail: false,
    sms: false,
    notificators: "web",
    calendarId: 0,
    commandId: 0,
    attributes: {},
    ...fields,
  };
}

const NIGHTS: Calendar = { id: 9, name: "Nights", data: "", attributes: {} };
const ANA = userOf({ id: 3, name: "Ana", email: "ana@example.org", administrator: false });

/** A server with these notifications, which are edited and linked as they are there. */
function notifying(...stored: Notification[]): FakeServer {
  const server = new FakeServer();
  let rows = stored;
  server.answer("listNotifications", () => rows);
  server.answer("getNotification", ({ ids }) => rows.find(({ id }) => id === ids[0]) ?? refusal(404));
  server.answer("createNotification", ({ body }) => {
    const made = { ...(body as Notification), id: 50 };
    rows = [...rows, made];
    return made;
  });
  server.answer("updateNotification", ({ body }) => {
    const changed = body as Notification;
    rows = rows.map((each) => (each.id === changed.id ? changed : each));
    return changed;
  });
  server.answer("deleteNotification", ({ ids }) => {
    rows = rows.filter(({ id }) => id !== ids[0]);
    return null;
  });
  server.answer("listNotificationTypes", [
    { type: "alarm" },
    { type: "deviceOverspeed" },
    { type: "geofenceExit" },
  ]);
  server.answer("listNotificators", [{ type: "web" }, { type: "mail" }, { type: "command" }]);
  server.answer("listFailingReceivers", []);
  server.answer("listCalendars", [NIGHTS]);
  server.answer("listCommands", []);
  server.answer("listUsers", [ANA]);
  server.answer("listPermissions", ({ query }) => (query.has("userId") ? [{ userId: 1 }] : []) as never);
  server.answer("createPermissions", null);
  server.answer("deletePermissions", null);
  server.answer("previewNotification", ({ body }) => ({
    subject: "Van 12: too fast",
    digest: "",
    text: `tried: ${(body as Notification).attributes.text ?? ""}`,
  }));
  return server;
}

function trialOf(fields: Partial<NotificationTrial> = {}): NotificationTrial {
  return {
    from: "2026-06-14T00:00:00Z",
    to: "2026-06-15T00:00:00Z",
    events: 14,
    shut: 0,
    channels: [{ type: "mail", messages: 14, users: 1, unreached: 1 }],
    newest: [{ eventId: 881, deviceId: 1, eventTime: "2026-06-14T10:00:00Z", users: 1 }],
    preview: { subject: "Van: too fast", digest: "", text: "Van: too fast\n" },
    ...fields,
  };
}

async function dialogOf(page: Page, act: string | RegExp): Promise<HTMLElement> {
  await page.click("button", act);
  const dialog = (await screen.findByRole("group", { name: "Ways" })).closest("dialog");
  if (!dialog) throw new Error("no dialog");
  return dialog;
}

test("each row says what it is limited to, and whom it reaches", async () => {
  const server = notifying(
    notificationOf(1, {
      always: false,
      calendarId: 9,
      attributes: { severity: "WARNING", text: "Slow down" },
    }),
    notificationOf(2, { type: "alarm", attributes: { alarms: "sos,jamming" } }),
    notificationOf(3, { type: "geofenceExit", attributes: { geofenceIds: 4 } }),
    notificationOf(4, { type: "alarm" }),
  );
  server.zones = [zoneOf(4, { name: "Depot" })];
  const page = await openPage(PATH, server);
  const table = await screen.findByRole("region", { name: "Notifications" });
  await waitFor(() => expect(within(table).getAllByRole("rowheader")).toHaveLength(4));
  await within(table).findByText("warning or more · chosen vehicles · own words · Nights");
  await within(table).findByText(/^emergency button and jamming$/i);
  await within(table).findByText("Depot");
  await within(table).findByText("for no alarm");
  expect(within(table).getAllByRole("cell", { name: /\(you\)/ })).toHaveLength(4);
  await page.expectAccessible();
});

test("a press on a cell has it go out by that way, as the record is by then", async () => {
  const server = notifying(notificationOf(1));
  await openPage(PATH, server);
  const cell = await screen.findByRole("button", { name: "Too fast: E-mail" });
  expect(cell.getAttribute("aria-pressed")).toBe("false");
  cell.click();
  await waitFor(() => expect(cell.getAttribute("aria-pressed")).toBe("true"));
  expect(server.asked("updateNotification")[0]?.body).toMatchObject({
    notificators: "web,mail",
    web: true,
    mail: true,
  });
  // A command has to be chosen in the form first.
  expect(screen.getByRole("button", { name: "Too fast: Command" })).toHaveProperty("disabled", true);
});

test("a refusal of a press is said, and the cell stays as it was", async () => {
  const server = notifying(notificationOf(1));
  server.answer("updateNotification", refusal(400, "notificators: mail is not configured"));
  await openPage(PATH, server);
  const cell = await screen.findByRole("button", { name: "Too fast: E-mail" });
  cell.click();
  await screen.findByText(/mail is not configured/);
  expect(cell.getAttribute("aria-pressed")).toBe("false");
});

test("a new one is stored, linked to its people and vehicles, and listed", async () => {
  const server = notifying();
  server.devices = [deviceOf(1, { name: "Van" })];
  const page = await openPage(PATH, server);
  await screen.findByText("No notification yet");
  const dialog = await dialogOf(page, "New notification");
  await page.user.click(within(dialog).getByLabelText(/^All vehicles/));
  await page.user.type(within(dialog).getByLabelText("Single vehicles"), "van");
  await page.user.click(await within(dialog).findByRole("option", { name: /Van/ }));
  await page.user.type(within(dialog).getByRole("combobox", { name: "Who" }), "ana");
  await page.user.click(await within(dialog).findByRole("option", { name: /Ana/ }));
  await page.user.type(within(dialog).getByLabelText("Description"), "Night watch");
  await page.user.click(within(dialog).getByRole("button", { name: "Save" }));
  await screen.findByText("Night watch");
  expect(server.asked("createNotification")[0]?.body).toMatchObject({
    type: "alarm",
    always: false,
    notificators: "web",
    attributes: { severity: "CRITICAL" },
  });
  expect(server.asked("createPermissions").map(({ body }) => body)).toEqual([
    [{ deviceId: 1, notificationId: 50 }],
    [{ userId: 3, notificationId: 50 }],
  ]);
});

test("what the server refuses stays in the form, and what fails after it is stored is tried again", async () => {
  const server = notifying();
  let refusals = 1;
  server.answer(
    "createPermissions",
    () => (refusals-- > 0 ? refusal(400, "no access to user 3") : null) as never,
  );
  const page = await openPage(PATH, server);
  const dialog = await dialogOf(page, "New notification");
  await page.user.type(within(dialog).getByRole("combobox", { name: "Who" }), "ana");
  await page.user.click(await within(dialog).findByRole("option", { name: /Ana/ }));
  await page.user.click(within(dialog).getByRole("button", { name: "Save" }));
  await within(dialog).findByText("No access to user 3.");
  await page.user.click(within(dialog).getByRole("button", { name: "Save" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(server.asked("createNotification")).toHaveLength(1);
  expect(server.asked("createPermissions")).toHaveLength(2);
});

test("an edit of what others changed meanwhile is put on top of it", async () => {
  const server = notifying(notificationOf(1));
  const page = await openPage(PATH, server);
  const dialog = await dialogOf(page, /^Edit/);
  await page.user.type(within(dialog).getByLabelText("Description"), "Mine");
  server.answer("getNotification", notificationOf(1, { attributes: { severity: "WARNING" } }));
  await page.user.click(within(dialog).getByRole("button", { name: "Save" }));
  await within(dialog).findByText(/attributes/);
  await page.user.click(within(dialog).getByRole("button", { name: "Save" }));
  await waitFor(() => expect(server.asked("updateNotification")).toHaveLength(1));
  expect(server.asked("updateNotification")[0]?.body).toMatchObject({
    description: "Mine",
    attributes: { severity: "WARNING" },
  });
});

test("own words are tried while they are typed, and placeholders go where the cursor is", async () => {
  const server = notifying(notificationOf(1));
  const page = await openPage(PATH, server);
  const dialog = await dialogOf(page, /^Edit/);
  await page.user.click(within(dialog).getByText("Own words"));
  const text = within(dialog).getByLabelText<HTMLTextAreaElement>("Text");
  await page.user.type(text, "Look: , now");
  text.setSelectionRange(6, 6);
  await page.user.click(within(dialog).getByRole("button", { name: "Vehicle" }));
  expect(text.value).toBe("Look: {device}, now");
  expect(document.activeElement).toBe(text);
  await page.user.click(within(dialog).getByLabelText("Subject"));
  await page.user.click(within(dialog).getByRole("button", { name: "Kind of event" }));
  await vi.advanceTimersByTimeAsync(600);
  await within(dialog).findByText("tried: Look: {device}, now");
  await within(dialog).findByText("Van 12: too fast");
  await page.expectAccessible();
  await page.user.click(within(dialog).getByRole("button", { name: "Save" }));
  await waitFor(() => expect(server.asked("updateNotification")).toHaveLength(1));
  expect(server.asked("updateNotification")[0]?.body).toMatchObject({
    attributes: { subject: "{type}", text: "Look: {device}, now" },
  });
});

test("an unknown placeholder is said beside its field", async () => {
  const server = notifying(notificationOf(1, { attributes: { text: "{oops}" } }));
  server.answer("previewNotification", refusal(400, "attributes.text: {oops} is none of device, event"));
  const page = await openPage(PATH, server);
  const dialog = await dialogOf(page, /^Edit/);
  await vi.advanceTimersByTimeAsync(600);
  await within(dialog).findByText("{oops} is none of device, event");
  expect(within(dialog).getByLabelText("Text").getAttribute("aria-invalid")).toBe("true");
});

test("a trial says what yesterday would have sent, whom it misses, and that the form was changed since", async () => {
  const server = notifying(notificationOf(1));
  server.devices = [deviceOf(1, { name: "Van" })];
  server.answer("tryNotification", trialOf());
  const page = await openPage(PATH, server);
  const dialog = await dialogOf(page, /^Edit/);
  await page.user.click(within(dialog).getByRole("button", { name: "Yesterday" }));
  await within(dialog).findByText("It concerns 14 events: 14 × E-mail.");
  await within(dialog).findByText("1 person cannot be reached: E-mail");
  await within(dialog).findByText("Van: too fast", { selector: "strong" });
  expect(within(dialog).getByRole("link", { name: /Van/ }).getAttribute("href")).toBe("/events/881");
  await page.user.type(within(dialog).getByLabelText("Description"), "x");
  await within(dialog).findByText("The form was changed since.");
});

test("all are tried one after the other, and a refusal stands in its row", async () => {
  const server = notifying(notificationOf(1), notificationOf(2, { type: "geofenceExit" }));
  server.answer("tryNotification", ({ body }) =>
    (body as Notification).id === 1 ? trialOf() : refusal(400, "too many at once"),
  );
  const page = await openPage(PATH, server);
  await page.click("button", "What would yesterday have sent?");
  await screen.findByText("14 × E-mail");
  await screen.findByText("Too many at once.");
});

test("one is deleted after a question", async () => {
  const server = notifying(notificationOf(1));
  const page = await openPage(PATH, server);
  await page.click("button", /^Delete/);
  const question = await screen.findByRole("dialog");
  await page.user.click(within(question).getByRole("button", { name: "Delete" }));
  await screen.findByText("No notification yet");
  expect(server.asked("deleteNotification")).toHaveLength(1);
});

test("who may not edit sees the table without buttons, and of oneself alone", async () => {
  const server = notifying(notificationOf(1, { attributes: { subject: "Hello" } }));
  server.user = userOf({ administrator: false, readonly: true } as Partial<User>);
  await openPage(PATH, server);
  await screen.findByText(/own words/);
  expect(screen.queryByRole("button", { name: "New notification" })).toBeNull();
  expect(screen.getByRole("button", { name: "Too fast: This page" })).toHaveProperty("disabled", true);
  expect(server.asked("listNotifications")[0]?.query.has("all")).toBe(false);
});

test("ways are tested, and what fails says since when and why", async () => {
  const server = notifying();
  server.answer("listFailingReceivers", [
    {
      notificator: "mail",
      since: "2026-06-14T10:00:00Z",
      failures: 3,
      lastError: "mailbox full",
      paused: true,
    } as never,
  ]);
  server.answer("testNotificator", refusal(400, "mailbox full"));
  const page = await openPage(PATH, server);
  await screen.findByText(/Paused, it failed since .*: mailbox full/);
  await page.click("button", "Test E-mail");
  await screen.findByText("Mailbox full.");
});

test("one's own stand in the account, with the same form", async () => {
  const server = notifying(notificationOf(1));
  server.answer("listEvents", [eventOf(1)]);
  server.answer("listSessions", []);
  server.answer("listTokens", []);
  server.answer("listShares", []);
  server.answer("listTimezones", []);
  const page = await openPage("/account", server);
  const dialog = await dialogOf(page, /^Edit Too fast/);
  within(dialog).getByText("Own words");
});
