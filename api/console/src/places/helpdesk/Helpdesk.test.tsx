import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { Company, CompanyUser, TicketPriority, User } from "../../api/types";
import { blocksOf, decoded } from "../../calendars/blocks";
import { openPage } from "../../testing/page";
import { userOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";
import { isLastManager } from "./People";

function companyOf(id: number, fields: Partial<Company> = {}): Company {
  return { id, name: `Company ${id}`, uniqueId: null, disabled: false, attributes: {}, ...fields };
}

function memberOf(id: number, fields: Partial<CompanyUser> = {}): CompanyUser {
  const email = `user${id}@example.org`;
  return {
    id,
    name: null,
    email,
    teamIds: [],
    agent: false,
    manager: false,
    disabled: false,
    ...fields,
  };
}

const URGENT: TicketPriority = {
  id: 31,
  companyId: 5,
  name: "Urgent",
  level: 1,
  firstResponseMinutes: 15,
  resolutionMinutes: 240,
  calendarId: 0,
  disabled: false,
  attributes: {},
};

function other(fields: Partial<User>): User {
  return { ...userOf(), ...fields };
}

/** A server that sets companies up. */
function settingUp(): FakeServer {
  const server = new FakeServer();
  const companies: Company[] = [];
  server.answer("listTimezones", ["Europe/Lisbon", "UTC"]);
  server.answer("listWindows", []);
  server.answer("listUsers", () => [
    other({ id: server.user?.id ?? 0 }),
    other({ id: 8, name: "Ben", email: "ben@example.org" }),
    other({ id: 9, name: "Guest", email: "guest", temporary: true }),
  ]);
  server.answer("createCompany", ({ body }) => {
    companies.push(companyOf(5, body as Partial<Company>));
    return companyOf(5, body as Partial<Company>);
  });
  server.answer("getCompany", () => companies[0] ?? refusal(404));
  server.answer("createTicketDefaults", { categories: [], priorities: [URGENT], statuses: [] });
  server.answer("createCalendar", { id: 7, name: "Hours", data: "", attributes: {} });
  server.answer("updateTicketPriority", ({ body }) => body as TicketPriority);
  server.answer(
    "createTeam",
    ({ body }) => ({ id: 3, ...(body as { companyId: number; name: string }) }) as never,
  );
  server.answer("addTeamMember", null);
  return server;
}

test("a company is set up from nothing by one form, and what failed goes on where it stopped", async () => {
  const server = settingUp();
  const page = await openPage("/helpdesk", server);
  await page.click("link", "New company");
  await page.click("button", "Set up the company");
  expect((await screen.findByRole("alert")).textContent).toBe("A company needs a name.");
  await page.fill("Name of the company", "North");
  // Fridays off.
  await page.click("button", "Fri");
  await page.user.click(screen.getByRole("combobox", { name: "Add a person" }));
  expect(screen.queryByRole("option", { name: /Guest/ })).toBeNull();
  await page.click("option", /Ben/);
  await page.expectAccessible();
  server.answer("createTeam", refusal(400, "the quota is full"));
  await page.click("button", "Set up the company");
  expect((await screen.findByText(/^The team did not work: The quota is full\./)).getAttribute("role")).toBe(
    "alert",
  );
  server.answer("createTeam", {
    id: 3,
    companyId: 5,
    name: "",
    uniqueId: null,
    disabled: false,
    attributes: {},
  });
  await page.click("button", "Go on");
  await page.expectAddress("/helpdesk/5");
  await screen.findByRole("heading", { level: 1, name: "North" });
  const bodies = (operation: Parameters<FakeServer["asked"]>[0]) =>
    server.asked(operation).map(({ body }) => body);
  expect(bodies("createCompany")).toEqual([{ name: "North", attributes: { timezone: expect.any(String) } }]);
  expect(bodies("createTicketDefaults")).toEqual([{ companyId: 5, language: "en" }]);
  const [calendar] = bodies("createCalendar") as { name: string; data: string }[];
  expect(calendar?.name).toBe("Business hours of North");
  expect(blocksOf(decoded(calendar?.data ?? ""))?.blocks).toEqual([
    { days: [0, 1, 2, 3], from: "09:00", to: "17:00" },
  ]);
  expect(bodies("updateTicketPriority")).toEqual([{ ...URGENT, calendarId: 7 }]);
  expect(server.asked("addTeamMember").map(({ ids }) => ids)).toEqual([
    [3, server.user?.id],
    [3, 8],
  ]);
});

test("people join and leave a company and its teams, but for the last manager", async () => {
  const server = settingUp();
  server.answer("getCompany", companyOf(5, { name: "North" }));
  const ids = { userId: 8, companyId: 5 };
  let members = [memberOf(1, { name: "Ann", manager: true, agent: true })];
  server.answer("listCompanyUsers", () => members);
  server.answer("listTeams", [
    { id: 3, companyId: 5, name: "Workshop", uniqueId: null, disabled: false, attributes: {} },
  ]);
  server.answer("createPermission", ({ body }) => {
    expect(body).toEqual(ids);
    members = [...members, memberOf(8, { name: "Ben" })];
    return null;
  });
  server.answer("deletePermission", ({ body }) => {
    expect(body).toEqual(ids);
    members = members.slice(0, 1);
    return null;
  });
  server.answer("addTeamMember", ({ ids: [, user] }) => {
    members = members.map((each) => (each.id === user ? { ...each, agent: true, teamIds: [3] } : each));
    return null;
  });
  const page = await openPage("/helpdesk/5/people", server);
  const last = await screen.findByRole("button", { name: "Remove Ann" });
  expect(last).toHaveProperty("disabled", true);
  await page.user.click(await screen.findByRole("combobox", { name: "Add a person" }));
  await page.click("option", /Ben/);
  await screen.findByText("Reports: sees tickets and creates them");
  await page.user.click(screen.getByRole("combobox", { name: "Add to Workshop" }));
  await page.click("option", /Ben/);
  await screen.findByText("Agent: handles tickets · Workshop");
  await page.expectAccessible();
  await page.click("button", "Remove Ben");
  await waitFor(() => expect(screen.queryByRole("button", { name: "Remove Ben" })).toBeNull());
  // With the link its memberships came back as well.
  await page.click("button", "Undo");
  await screen.findByText("Agent: handles tickets · Workshop");
});

test("who is an agent sees a company and changes nothing", async () => {
  const server = settingUp();
  server.user = userOf({ administrator: false });
  server.answer("listCompanyRoles", [{ companyId: 5, role: "agent" }]);
  server.answer("getCompany", companyOf(5, { name: "North" }));
  server.answer("listCompanies", [companyOf(5, { name: "North" }), companyOf(6)]);
  server.answer("listCompanyUsers", [memberOf(1, { name: "Ann", manager: true })]);
  const page = await openPage("/helpdesk", server);
  const row = (await screen.findByRole("link", { name: "North" })).closest("li") as HTMLElement;
  expect(row.textContent).toContain("Agent: handles tickets");
  expect(within(row).queryByRole("link", { name: "Set up" })).toBeNull();
  await page.click("link", "North");
  await screen.findByText("Only managers of the company change this.");
  expect(await screen.findByLabelText("Name of the company")).toHaveProperty("disabled", true);
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
  await page.click("link", "People");
  await screen.findByText("Ann (you)");
  expect(screen.queryByRole("button", { name: "Remove Ann" })).toBeNull();
});

test("the last manager is the only one who can log in", () => {
  const ann = memberOf(1, { manager: true });
  expect(isLastManager(ann, [ann, memberOf(2, { agent: true })])).toBe(true);
  expect(isLastManager(ann, [ann, memberOf(2, { manager: true })])).toBe(false);
  expect(isLastManager(ann, [ann, memberOf(2, { manager: true, disabled: true })])).toBe(true);
  expect(isLastManager(memberOf(2), [ann, memberOf(2)])).toBe(false);
});
