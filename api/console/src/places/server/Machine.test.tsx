import { screen, within } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import type { AuditAction, ServerStatus, StorageUse } from "../../api/types";
import { openPage } from "../../testing/page";
import { serverOf, settingOf, userOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

const STATUS: ServerStatus = {
  release: "0.7.0",
  started: "2026-05-01T12:00:00Z",
  healthy: true,
  conditions: [],
  disk: { used: 4e9, total: 10e9 },
  memory: null,
  resident: 250e6,
  longestStall: 0.03,
  database: { embedded: true, version: "18.6", bytes: 7e9, schema: 73, pending: 0, latency: 0.0012 },
  node: 3,
  nodes: [
    {
      number: 3,
      host: "one",
      release: "0.7.0",
      address: null,
      roles: ["api", "duties"],
      started: "2026-05-01T12:00:00Z",
      isUp: true,
      lastSeen: "2026-05-01T12:00:00Z",
      duties: ["outbox", "retention"],
    },
  ],
};

test("the state is told in words, and the server is restarted after a question", async () => {
  const server = new FakeServer();
  server.answer("getStatus", STATUS);
  server.answer("rebootServer", "the server starts again");
  const page = await openPage("/admin/status", server);
  await screen.findByText("The server works.");
  screen.getByText("4.0 GB of 10 GB used");
  screen.getByText("PostgreSQL 18.6, run by this server");
  screen.getByText(/ · api, duties$/);
  screen.getByText("Migration 73, none is missing");
  screen.getByText("1.2 ms");
  screen.getByText("Does for all: outbox and retention");
  await page.expectAccessible();
  await page.click("button", "Restart the server");
  expect(server.changes()).toEqual([]);
  const dialog = await screen.findByRole("dialog");
  await page.user.click(within(dialog).getByRole("button", { name: "Restart the server" }));
  await screen.findByText("The server starts again.");
  server.answer("getStatus", {
    ...STATUS,
    healthy: false,
    database: null,
    nodes: [],
    conditions: [{ name: "disk", text: "the disk is full", cause: "1 MiB is free", since: STATUS.started }],
  });
  await vi.advanceTimersByTimeAsync(10_000);
  await screen.findByText("The server does not work as it should.");
  screen.getByText(/The disk of the server is nearly full/);
  screen.getByText("The database does not answer.");
});

test("storage names what grows, how long it is kept, and leads to the setting", async () => {
  const use: StorageUse = {
    databaseBytes: 9e9,
    tables: [
      { name: "positions", bytes: 8e9, rows: 40_000_000, partitions: 26, dailyRows: 90_000 },
      { name: "audit", bytes: 2e6, rows: 4000, partitions: 0, dailyRows: 12 },
      ...[...Array(14).keys()].map((number) => ({
        name: `table_${number}`,
        bytes: 1e6,
        rows: 0,
        partitions: 0,
        dailyRows: null,
      })),
    ],
    days: [{ time: "2026-05-01T21:59:59Z", positions: 91_000 }],
    folders: [{ name: "media", files: 3, bytes: 5e9 }],
    whole: false,
    disk: { used: 4e9, total: 10e9 },
  };
  const server = new FakeServer();
  server.answer("getStorage", use);
  const days = (value: number) => settingOf("retention_days", { type: "integer", value });
  server.answer("getServerSettings", {
    sections: [
      { name: "positions", description: "", testable: false, settings: [days(730)] },
      { name: "audit", description: "", testable: false, settings: [days(0)] },
    ],
  });
  const page = await openPage("/admin/storage", server);
  const row = await screen.findByRole("row", {
    name: /^Positions 26 partitions 8\.0 GB 40,000,000 90,000, 18 MB/,
  });
  const link = within(row).getByRole("link", { name: "730 days" });
  expect(link.getAttribute("href")).toBe("/admin/server?open=retention");
  within(screen.getByRole("row", { name: /^Audit log/ })).getByRole("link", { name: "for ever" });
  screen.getByRole("row", { name: /^4 other tables 4\.0 MB/ });
  screen.getByText("There are more files than are measured here.");
  await page.expectAccessible();
});

const ACTION: AuditAction = {
  id: 900,
  actionTime: "2026-05-01T12:00:00Z",
  address: "10.0.0.7",
  userId: 1,
  userEmail: "admin@example.org",
  actionType: "edit",
  objectType: "device",
  objectId: 7,
  attributes: { disabled: { before: false, after: true } },
};

test("the audit log is read in pages, with filters in the address, objects and people as links", async () => {
  const server = new FakeServer();
  server.answer("listUsers", [userOf()]);
  server.answer("listAudit", ({ query }) =>
    query.has("beforeId")
      ? [{ ...ACTION, id: 700, actionType: "login", objectType: null, objectId: 0, attributes: {} }]
      : [...Array(100).keys()].map((number) => ({ ...ACTION, id: 900 - number })),
  );
  const page = await openPage("/admin/audit", server);
  const [first] = await screen.findAllByRole("link", { name: "vehicle 7" });
  expect(first?.getAttribute("href")).toBe("/vehicles/7");
  const log = within(screen.getByRole("region", { name: "Audit log" }));
  expect(log.getAllByRole("link", { name: "Admin" })[0]?.getAttribute("href")).toBe("/admin/users/1");
  screen.getAllByText("false → true");
  await page.click("button", "Older ones");
  await screen.findByText("logged in", { selector: "strong" });
  expect(server.asked("listAudit").at(-1)?.query.get("beforeId")).toBe("801");
  await page.user.selectOptions(screen.getByLabelText("To what"), "user");
  await page.expectAddress("/admin/audit?objectType=user");
  await vi.waitFor(() => expect(server.asked("listAudit").at(-1)?.query.get("objectType")).toBe("user"));
  server.answer("listAudit", []);
  await page.user.selectOptions(screen.getByLabelText("Did what"), "backup");
  await screen.findByText("Nothing of this was done in this span");
  await page.click("button", "Without filters");
  await page.expectAddress("/admin/audit");
});

test("a backup is fetched with the password, whose fault is said beside it", async () => {
  const server = new FakeServer();
  server.answer("listSigningKeys", [{ id: 2, created: "2026-05-01T12:00:00Z", acceptedUntil: null }]);
  server.answer("prepareBackup", refusal(400, "currentPassword: needed to fetch a backup"));
  const page = await openPage("/admin/backup", server);
  const begun: string[] = [];
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    begun.push(this.getAttribute("href") ?? "");
  });
  await page.click("button", "Fetch a backup");
  await screen.findByText("Needed to fetch a backup");
  expect(begun).toEqual([]);
  server.answer("prepareBackup", {
    ticket: "abc",
    expires: "2026-05-01T12:01:00Z",
    databaseBytes: 7e9,
    files: 3,
    fileBytes: 2e6,
    encryptionKeys: ["12345678"],
  });
  await page.user.type(screen.getByLabelText("Current password"), "secret");
  await page.click("button", "Fetch a backup");
  await screen.findByText(/a database of 7\.0 GB, compressed, and 3 files \(2\.0 MB\).*12345678/);
  expect(server.asked("prepareBackup").at(-1)?.body).toEqual({ currentPassword: "secret" });
  expect(begun).toEqual(["/api/server/backup?ticket=abc"]);
  expect((screen.getByLabelText("Current password") as HTMLInputElement).value).toBe("");
  await page.expectAccessible();
});

test("a new key signs after a question, and ends tokens only if asked to", async () => {
  const server = new FakeServer();
  const key = { id: 2, created: "2026-05-01T12:00:00Z", acceptedUntil: null };
  server.answer("listSigningKeys", [key]);
  server.answer("rotateSigningKeys", [key]);
  const page = await openPage("/admin/backup", server);
  await page.click("button", "Sign with a new key");
  const dialog = await screen.findByRole("dialog");
  await page.click("checkbox", "End all tokens and share links at once");
  await page.user.click(within(dialog).getByRole("button", { name: "Sign with a new key" }));
  await screen.findByText("A new key signs now");
  expect(server.asked("rotateSigningKeys")[0]?.body).toEqual({ endTokens: "true" });
});

test("an announcement is previewed, shown above each page, hidden by a reader, and taken down", async () => {
  const server = new FakeServer();
  server.answer("updateServer", ({ body }) => {
    const saved = { ...serverOf(), ...(body as object) };
    server.answer("getServer", saved);
    return saved;
  });
  server.answer("listNotificators", [{ type: "web" }, { type: "mail" }]);
  server.answer("listUsers", [userOf(), userOf({ id: 5, name: "Ana", email: "ana@example.org" })]);
  server.answer("sendAnnouncement", null);
  const page = await openPage("/admin/announcement", server);
  const card = await screen.findByRole("region", { name: "On all pages" });
  await page.user.type(within(card).getByLabelText("Words"), "Down from 2 to 3");
  within(card).getByRole("region", { name: "Announcement" });
  await page.click("button", "Show it");
  await screen.findByText("All pages show it now");
  expect(screen.getAllByText("Down from 2 to 3").length).toBeGreaterThan(1);
  await page.expectAccessible();
  await page.click("button", "Hide the announcement");
  expect(screen.queryByRole("button", { name: "Hide the announcement" })).toBeNull();
  // Other words, of another administrator, come by themselves.
  server.answer("getServer", serverOf({ announcement: "Down tomorrow" }));
  await vi.advanceTimersByTimeAsync(60_000);
  await screen.findByRole("button", { name: "Hide the announcement" });
  await page.click("button", "Take it down");
  await screen.findByText("The announcement is taken down");
  expect(server.asked("updateServer").at(-1)?.body).toMatchObject({ announcement: null });
  const message = screen.getByRole("region", { name: "Message to many" });
  await page.user.type(within(message).getByLabelText("Words"), "Hello");
  await page.user.selectOptions(within(message).getByLabelText("By"), "mail");
  await page.click("button", "Send");
  const dialog = await screen.findByRole("dialog");
  within(dialog).getByText(/It goes to all users whom you may notify/);
  await page.user.click(within(dialog).getByRole("button", { name: "Send" }));
  await screen.findByText("The message is on its way");
  expect(server.asked("sendAnnouncement")[0]).toMatchObject({
    path: "/api/notifications/send/mail",
    body: { body: "Hello" },
  });
});

test.each(["status", "storage", "audit", "backup"])(
  "who is no administrator sees nothing of %s",
  async (name) => {
    const server = new FakeServer();
    server.user = userOf({ administrator: false, userLimit: 5 });
    await openPage(`/admin/${name}`, server);
    await screen.findByText("You may not see this section of the administration.");
  },
);
