import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { User } from "../../api/types";
import { openPage } from "../../testing/page";
import { serverOf, userOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";
import { shownOf } from "./Users";
import { restrictionsOf, roleOf, stateOf } from "./users";

const NOON = Date.parse("2026-05-01T12:00:00Z");
const ANA = userOf({ id: 2, name: "Ana", email: "ana@example.org", administrator: false, readonly: true });
const BEN = userOf({ id: 3, name: "Ben", email: "ben@example.org", administrator: false, userLimit: -1 });
const GUEST = userOf({ id: 4, name: "", email: "share@example.org", administrator: false, temporary: true });

function withUsers(): FakeServer {
  const server = new FakeServer();
  server.answer("listUsers", [userOf(), ANA, BEN, GUEST]);
  server.answer("getUser", ({ ids }) => [userOf(), ANA, BEN].find(({ id }) => id === ids[0]) ?? refusal(404));
  server.answer("listActivity", ({ query }) =>
    query.getAll("id").map((id) => ({
      userId: Number(id),
      devices: 7,
      lastLogin: id === "2" ? null : "2026-06-15T10:00:00Z",
      sessions: 0,
    })),
  );
  server.answer("listSessions", []);
  server.answer("listTokens", []);
  return server;
}

test("a user is what the flags say", () => {
  expect([userOf(), ANA, BEN, GUEST].map(roleOf)).toEqual(["administrator", "user", "manager", "guest"]);
  expect(restrictionsOf(ANA)).toEqual(["readonly"]);
  expect(restrictionsOf(userOf({ readonly: true }))).toEqual([]);
  expect(stateOf(userOf({ expirationTime: "2026-05-01T11:00:00Z" }), NOON)).toBe("expired");
  expect(stateOf(userOf({ expirationTime: "2026-05-01T13:00:00Z" }), NOON)).toBe("active");
  expect(stateOf(userOf({ disabled: true }), NOON)).toBe("disabled");
});

test("users are searched, filtered and sorted; guests are shown where they are asked for", () => {
  const names = (shown: Partial<Parameters<typeof shownOf>[1]>) =>
    shownOf([userOf(), BEN, ANA, GUEST], {
      keyword: "",
      kind: "",
      sort: "name",
      descending: false,
      now: NOON,
      ...shown,
    }).map(({ id }) => id);
  expect(names({})).toEqual([1, 2, 3]);
  expect(names({ descending: true })).toEqual([3, 2, 1]);
  expect(names({ sort: "role" })).toEqual([1, 3, 2]);
  expect(names({ keyword: "BEN ex" })).toEqual([3]);
  expect(names({ kind: "guest" })).toEqual([4]);
  expect(names({ kind: "manager" })).toEqual([3]);
});

test("the list says role, restrictions, vehicles and the last login, and its filters are in the address", async () => {
  const page = await openPage("/admin/users", withUsers());
  const row = await screen.findByRole("link", { name: /Ana/ });
  expect(row.textContent).toContain("Read-only");
  await waitFor(() => expect(row.textContent).toContain("7not known"));
  await page.user.selectOptions(screen.getByRole("combobox", { name: "Show" }), "Manager");
  await waitFor(() => expect(screen.queryByRole("link", { name: /Ana/ })).toBeNull());
  expect(window.location.search).toBe("?kind=manager");
  await page.expectAccessible();
});

test("who is invited gets a password that nobody knows, and a mail; a mail that fails is said", async () => {
  const server = withUsers();
  server.answer("getServer", serverOf({ emailEnabled: true }));
  server.answer("createUser", ({ body }) => ({ ...(body as User), id: 9, password: null }));
  server.answer("inviteUser", refusal(400, "the server has no mail account"));
  const page = await openPage("/admin/users/new", server);
  await page.user.type(await screen.findByRole("textbox", { name: "Name" }), "Cara");
  await page.user.type(screen.getByRole("textbox", { name: "E-mail" }), "cara@example.org");
  await page.click("button", "Make and invite");
  await screen.findByText("The user is made, but was not invited: The server has no mail account.");
  const [made] = server.asked("createUser").map(({ body }) => body as User);
  expect(made).toMatchObject({ name: "Cara", email: "cara@example.org", administrator: false });
  expect(made?.password).toHaveLength(32);
  expect(server.asked("inviteUser").map(({ ids }) => ids[0])).toEqual([9]);
  expect(window.location.pathname).toBe("/admin/users/9");
});

test("what the server says of a field stands beside it, and what was typed stays", async () => {
  const server = withUsers();
  server.answer("updateUser", refusal(400, "email: not an e-mail address"));
  const page = await openPage("/admin/users/2", server);
  const field = await screen.findByRole("textbox", { name: "E-mail" });
  await page.user.clear(field);
  await page.user.type(field, "ana");
  await page.click("button", "Save");
  await screen.findByText("Not an e-mail address");
  expect(field.getAttribute("aria-invalid")).toBe("true");
  expect(field).toHaveProperty("value", "ana");
  await page.expectAccessible();
});

test("who may change nothing is offered nothing, and whose own page it is no end of themselves", async () => {
  const server = withUsers();
  server.answer("getSession", { ...BEN, readonly: true });
  await openPage("/admin/users/2", server);
  await screen.findByRole("button", { name: "What does Ana see?" });
  for (const name of ["Act as", "Disable", "Delete", "Save"])
    expect(screen.queryByRole("button", { name })).toBeNull();
  expect(screen.getByRole("textbox", { name: "Name" })).toHaveProperty("disabled", true);
  expect(screen.queryByRole("combobox", { name: "Role" })).toBeNull();
  const own = await openPage("/admin/users/1", withUsers());
  await screen.findByText(/This is you/);
  expect(screen.queryByRole("button", { name: "Delete" })).toBeNull();
  await own.expectAccessible();
});

test("a session that shows what another sees says so on every page, and offers no changes", async () => {
  const server = withUsers();
  server.answer("getSession", {
    ...ANA,
    readonly: false,
    deviceLimit: -1,
    impersonatorId: 1,
    impersonatorName: "Admin",
    viewOnly: true,
  });
  server.answer("impersonate", userOf());
  const page = await openPage("/fleet", server);
  const bar = await screen.findByRole("region", { name: "You are acting as Ana." });
  expect(bar.textContent).toContain("You see what Ana sees. Nothing can be changed.");
  await screen.findByText("No vehicles yet");
  expect(screen.queryByRole("link", { name: "Connect a tracker" })).toBeNull();
  await page.expectAccessible();
  await page.user.click(within(bar).getByRole("button", { name: "Back to Admin" }));
  await waitFor(() => expect(server.asked("impersonate").map(({ ids }) => ids[0])).toEqual([1]));
});
