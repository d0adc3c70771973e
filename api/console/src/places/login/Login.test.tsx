import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { userOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

const CLERK = userOf({ id: 2, name: "Clerk", email: "clerk@example.org" });
const PASSWORD = "parking garage 7";

/** A server that lets the clerk in. */
function closed(): FakeServer {
  const server = new FakeServer();
  server.user = null;
  server.answer("createSession", ({ body }) => {
    const { email, password } = body as Record<string, string>;
    if (email !== CLERK.email || password !== PASSWORD) return refusal(401);
    server.user = CLERK;
    return CLERK;
  });
  return server;
}

test("a wrong password is refused, and the right one leads to the address that was asked for", async () => {
  const page = await openPage("/account", closed());
  await page.fill("E-mail", CLERK.email);
  await page.fill("Password", "wrong");
  await page.click("button", "Log in");
  expect((await screen.findByRole("alert")).textContent).toBe("E-mail or password is wrong.");
  await page.expectAccessible();
  await page.fill("Password", PASSWORD);
  await page.click("button", "Log in");
  await screen.findByRole("heading", { name: "Account" });
  expect(page.address).toBe("/account");
});

test("who logs out is not asked to log in for what was under way", async () => {
  const server = new FakeServer();
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const dialogs: number[] = [];
  server.answer("listDevices", async () => {
    await ended;
    return refusal(401);
  });
  server.answer("deleteSession", async () => {
    end();
    await new Promise((done) => setTimeout(done));
    dialogs.push(screen.queryAllByRole("dialog").length);
    return null;
  });
  const page = await openPage("/fleet", server);
  await waitFor(() => expect(server.asked("listDevices")).not.toEqual([]));
  await page.click("button", "Log out");
  await waitFor(() => expect(page.left).toEqual(["/login"]));
  expect(dialogs).toEqual([0]);
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("a token logs in and leaves the address", async () => {
  const server = closed();
  server.answer("getSession", ({ query }) => {
    if (query.get("token") === "RzBFAiEA") server.user = CLERK;
    return server.user ?? refusal(404);
  });
  const page = await openPage("/fleet?keyword=van&token=RzBFAiEA", server);
  expect((await screen.findByLabelText<HTMLInputElement>("Search name or number")).value).toBe("van");
  expect(page.address).toBe("/fleet?keyword=van");
  await screen.findByRole("button", { name: "Log out" });
});

test("a session that ended is asked for over the page, which then goes on", async () => {
  const server = closed();
  server.user = CLERK;
  const page = await openPage("/account", server);
  await page.fill("Name", "Clerk of the night");
  server.user = null;
  server.drop();
  const dialog = within(await screen.findByRole("dialog", { name: "Your session has ended" }));
  expect(dialog.getByLabelText<HTMLInputElement>("E-mail").value).toBe(CLERK.email);
  await page.user.type(dialog.getByLabelText("Password"), PASSWORD);
  await page.user.click(dialog.getByRole("button", { name: "Log in" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("Clerk of the night");
});
