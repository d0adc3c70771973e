import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { Company, TicketCategory, TicketStatus } from "../../api/types";
import { openPage } from "../../testing/page";
import { answerOf, FakeServer, refusal } from "../../testing/server";

const COMPANY: Company = { id: 5, name: "North", uniqueId: null, disabled: false, attributes: {} };

function categoryOf(id: number, name: string, parentId = 0): TicketCategory {
  return { id, companyId: 5, name, parentId, teamId: 0, priorityId: 0, disabled: false, attributes: {} };
}

function statusOf(id: number, name: string, next: readonly number[]): TicketStatus {
  return { id, companyId: 5, name, kind: "open", sortOrder: id, disabled: false, attributes: { next } };
}

/** A server whose company, categories and statuses can be changed. */
function keeping(): FakeServer & { company: Company } {
  const server = Object.assign(new FakeServer(), { company: COMPANY });
  let categories = [categoryOf(1, "Camera"), categoryOf(2, "Vehicle"), categoryOf(3, "Accident", 2)];
  let statuses = [statusOf(1, "New", [2]), statusOf(2, "Done", [])];
  server.answer("getCompany", () => answerOf<"getCompany">(server.company, { ETag: '"1"' }));
  server.answer("updateCompany", ({ body }) => {
    server.company = body as Company;
    return server.company;
  });
  server.answer("listTicketCategories", () => categories);
  server.answer("getTicketCategory", ({ ids }) => categories.find(({ id }) => id === ids[0]) ?? refusal(404));
  server.answer("updateTicketCategory", ({ body, ids }) => {
    categories = categories.map((each) => (each.id === ids[0] ? (body as TicketCategory) : each));
    return body as TicketCategory;
  });
  server.answer("listTicketStatuses", () => statuses);
  server.answer("getTicketStatus", ({ ids }) => statuses.find(({ id }) => id === ids[0]) ?? refusal(404));
  server.answer("updateTicketStatus", ({ body, ids }) => {
    statuses = statuses.map((each) => (each.id === ids[0] ? (body as TicketStatus) : each));
    return body as TicketStatus;
  });
  return server;
}

test("categories are moved by keys and in a dialog, and moved back", async () => {
  const server = keeping();
  const page = await openPage("/helpdesk/5/categories", server);
  const node = async (name: string) => screen.findByRole("button", { name: new RegExp(`^${name} ?level`) });
  const levels = () => screen.getAllByRole("button", { name: /level \d/ }).map((each) => each.textContent);
  (await node("Vehicle")).focus();
  await page.press("{Alt>}{ArrowRight}{/Alt}");
  await screen.findByText("Vehicle is now below: Camera");
  await waitFor(() => expect(levels()).toEqual(["Cameralevel 1", "Vehiclelevel 2", "Accidentlevel 3"]));
  await page.click("button", "Undo");
  await waitFor(() => expect(levels()).toContain("Vehiclelevel 1"));
  await page.expectAccessible();
  await page.click("button", "Move Accident");
  await page.user.click(await screen.findByRole("combobox", { name: "Below" }));
  await page.click("option", "Top level");
  await screen.findByText("Accident is now below: Top level");
  expect(
    server.asked("updateTicketCategory").map(({ ids, body }) => [ids[0], (body as TicketCategory).parentId]),
  ).toEqual([
    [2, 1],
    [2, 0],
    [3, 0],
  ]);
});

test("a tick of the workflow is saved at once, and comes back where it is refused", async () => {
  const server = keeping();
  const page = await openPage("/helpdesk/5/workflow", server);
  const tick = await screen.findByRole("checkbox", { name: "From Done to New" });
  expect(tick).toHaveProperty("checked", false);
  await page.user.click(tick);
  await waitFor(() => expect(server.asked("updateTicketStatus")).toHaveLength(1));
  expect(server.asked("updateTicketStatus")[0]?.body).toMatchObject({ attributes: { next: [1] } });
  server.answer("updateTicketStatus", refusal(400, "no"));
  const other = screen.getByRole("checkbox", { name: "From New to Done" });
  await page.user.click(other);
  await screen.findByText("No.");
  await waitFor(() => expect(other).toHaveProperty("checked", true));
  await page.expectAccessible();
});

test("a rule says what it would have made before it is saved, and refusals stand beside their fields", async () => {
  const server = keeping();
  server.answer("tryTicketRule", {
    from: "2026-11-22T12:00:00Z",
    to: "2026-11-29T12:00:00Z",
    events: 20,
    tickets: 14,
    muted: 0,
    newest: [
      {
        subject: "Emergency button: Van 7",
        deviceId: 7,
        eventId: 881,
        eventTime: "2026-11-28T12:00:00Z",
        events: 3,
      },
    ],
  });
  const page = await openPage("/helpdesk/5/rules", server);
  await page.click("button", "New rule");
  await page.click("button", "Try it on the last week");
  const dialog = within(await screen.findByRole("dialog"));
  expect((await dialog.findByText("Would have made 14 tickets.")).closest("p")?.textContent).toContain(
    "Of 20 events.",
  );
  const link = dialog.getByRole("link", { name: "Emergency button: Van 7" });
  expect(link.getAttribute("href")).toBe("/events/881");
  await page.expectAccessible();
  await page.click("button", "Save");
  await dialog.findByText("A rule needs a name.");
  await page.fill("Name", "SOS");
  server.answer("updateCompany", refusal(400, "attributes.ticketRules[0].when.eventTypes: needed"));
  await page.click("button", "Save");
  await dialog.findByText("Needed");
  // What was typed is there again, also after the dialog was closed.
  await page.click("button", "Close");
  await page.click("button", "New rule");
  await screen.findByText(/You had typed this before/);
  expect(screen.getByLabelText("Name")).toHaveProperty("value", "SOS");
  server.answer("updateCompany", ({ body }) => {
    server.company = body as Company;
    return server.company;
  });
  await page.click("button", "Save");
  await screen.findByText(/^When: .*emergency/i);
  expect(server.company.attributes.ticketRules).toMatchObject([
    { name: "SOS", when: { eventTypes: ["alarm"], alarms: ["sos"] }, dedupeMinutes: 60 },
  ]);
});

test("a webhook is set up with a secret that is shown once, and tested", async () => {
  const server = keeping();
  server.answer("listWebhookDeliveries", []);
  server.answer("testWebhook", {
    delivered: false,
    error: "dns",
    milliseconds: 3,
    address: null,
    status: null,
    answer: null,
  });
  const page = await openPage("/helpdesk/5/webhook", server);
  await page.click("button", "Set up a webhook");
  await page.fill("Address", "https://hooks.example.com/x");
  await page.click("button", "Save");
  const secret = (await screen.findByLabelText("Secret")) as HTMLInputElement;
  expect(server.company.attributes.ticketWebhook).toMatchObject({
    url: "https://hooks.example.com/x",
    secret: secret.value,
  });
  await page.click("button", "Test");
  await screen.findByText("The name of the host is not known.");
  await page.expectAccessible();
  await openPage("/helpdesk/5/webhook", server);
  await screen.findByRole("button", { name: "Test" });
  expect(screen.queryByLabelText("Secret")).toBeNull();
});

test("what another person changed meanwhile is named, and one's own put on top", async () => {
  const server = keeping();
  const page = await openPage("/helpdesk/5/categories", server);
  await page.click("button", /^Camera ?level/);
  server.answer("getTicketCategory", { ...categoryOf(1, "Camera"), teamId: 4 });
  await page.fill("Name", "Cameras");
  await page.click("button", "Save");
  await screen.findByText(/Somebody else has changed teamId meanwhile/);
  await page.click("button", "Save");
  await screen.findByText("Saved");
  expect(server.asked("updateTicketCategory").at(-1)?.body).toMatchObject({ name: "Cameras", teamId: 4 });
});
