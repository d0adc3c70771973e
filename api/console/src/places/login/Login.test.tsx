import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { deviceOf, serverOf, userOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

const CLERK = userOf({ id: 2, name: "Clerk", email: "clerk@example.org" });
const PASSWORD = "parking garage 7";
const TEXT = { headers: { "Content-Type": "text/plain" } };

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

test("who does not read the language chooses another, which this browser keeps until the account says one", async () => {
  const server = closed();
  const page = await openPage("/account", server);
  await page.user.selectOptions(await screen.findByLabelText("Language"), "Português (Portugal)");
  await screen.findByRole("button", { name: "Entrar" });
  expect(document.documentElement.lang).toBe("pt-PT");
  await page.fill("E-mail", CLERK.email);
  await page.fill("Palavra-passe", PASSWORD);
  await page.click("button", "Entrar");
  await screen.findByRole("heading", { name: "Conta" });
  server.user = { ...CLERK, attributes: { language: "en" } };
  await openPage("/account", server);
  await screen.findByRole("heading", { name: "Account" });
});

test("where the server forces its language none is offered", async () => {
  const server = closed();
  server.answer("getServer", serverOf({ forceSettings: true, attributes: { language: "pt" } }));
  await openPage("/account", server);
  await screen.findByRole("button", { name: "Entrar" });
  expect(screen.queryByLabelText("Língua")).toBeNull();
});

test("who has no one-time codes where they are demanded sets them up first, and then goes on", async () => {
  const server = closed();
  const limited = { ...CLERK, totpNeeded: true };
  server.answer("createSession", () => {
    server.user = limited;
    return limited;
  });
  server.answer("createTotpSecret", () => new Response("JBSWY3DPEHPK3PXP", TEXT));
  server.answer("getUser", () => CLERK);
  server.answer("updateUser", ({ body }) => {
    const { totpKey, currentPassword } = body as Record<string, string>;
    if (currentPassword !== PASSWORD) return refusal(400, "currentPassword: is wrong");
    expect(totpKey).toBe("JBSWY3DPEHPK3PXP");
    server.user = CLERK;
    return CLERK;
  });
  const page = await openPage("/account", server);
  await page.fill("E-mail", CLERK.email);
  await page.fill("Password", PASSWORD);
  await page.click("button", "Log in");
  await screen.findByRole("heading", { name: "One-time codes" });
  await screen.findByText("JBSW Y3DP EHPK 3PXP");
  await page.expectAccessible();
  // Nothing else is asked of the server until then.
  expect(server.asked("listDevices")).toEqual([]);
  await page.fill("Current password", "wrong");
  await page.click("button", "Switch on");
  await screen.findByText(/is wrong/);
  await page.fill("Current password", PASSWORD);
  await page.click("button", "Switch on");
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

test.each(["/fleet?keyword=van#token=RzBFAiEA", "/fleet?keyword=van&token=RzBFAiEA"])(
  "the token of %s logs in, leaves the address, and is in no other",
  async (address) => {
    const server = closed();
    server.answer("logInByToken", ({ body }) => {
      if ((body as Record<string, string>).token !== "RzBFAiEA") return refusal(404);
      server.user = CLERK;
      return CLERK;
    });
    const page = await openPage(address, server);
    expect((await screen.findByLabelText<HTMLInputElement>("Search name or number")).value).toBe("van");
    expect(page.address + window.location.hash).toBe("/fleet?keyword=van");
    await screen.findByRole("button", { name: "Log out" });
    expect(server.asked("getSession")).toEqual([]);
  },
);

/** A server without users, whose link was printed with the token `s3t`. */
function unset(): FakeServer {
  const server = closed();
  server.answer("getServer", serverOf({ newServer: true, openIdEnabled: true }));
  server.answer("createUser", ({ headers }) =>
    headers.get("X-Setup-Token") === "s3t" ? CLERK : refusal(400, "the set-up token is another one"),
  );
  return server;
}

test("the set-up link makes the first user", async () => {
  const server = unset();
  const page = await openPage("/#setup=s3t", server);
  await screen.findByRole("heading", { name: "This server is new" });
  expect(page.address + window.location.hash).toBe("/");
  expect(screen.queryByLabelText("Set-up token")).toBeNull();
  await page.fill("E-mail", CLERK.email);
  await page.fill("Password", PASSWORD);
  await page.expectAccessible();
  await page.click("button", "Create the administrator");
  await waitFor(() => expect(server.user).toBe(CLERK));
});

test("the first administrator says whom browsers ask for streets, before there is a map", async () => {
  const server = unset();
  const answers = [refusal(400, "map.tiles: 'here' is no address"), { sections: [] }];
  server.answer("changeServerSettings", () => answers.shift() ?? refusal(500));
  const page = await openPage("/#setup=s3t", server);
  await screen.findByText(/Browsers ask tiles\.openfreemap\.org/);
  await page.fill("E-mail", CLERK.email);
  await page.fill("Password", PASSWORD);
  await page.click("radio", "An address of your own");
  await page.fill("Address", "here");
  await page.expectAccessible();
  await page.click("button", "Create the administrator");
  expect((await screen.findByRole("alert")).textContent).toContain("'here' is no address");
  await page.click("radio", "None");
  await page.click("button", "Create the administrator");
  await waitFor(() => expect(page.left).toEqual(["/fleet"]));
  expect(server.asked("createUser")).toHaveLength(1);
  expect(server.asked("changeServerSettings").at(-1)?.body).toEqual({ map: { tiles: "none", file: null } });
});

test("where the streets are set already nobody is asked", async () => {
  const server = unset();
  server.map.hosts = [];
  const page = await openPage("/#setup=s3t", server);
  await page.fill("E-mail", CLERK.email);
  await page.fill("Password", PASSWORD);
  await page.click("button", "Create the administrator");
  await waitFor(() => expect(server.user).toBe(CLERK));
  expect(screen.queryByText("Streets on the map")).toBeNull();
  expect(server.asked("changeServerSettings")).toEqual([]);
});

test("without the link the set-up token is asked for", async () => {
  const server = unset();
  const page = await openPage("/", server);
  await page.fill("Set-up token", "guess");
  await page.fill("E-mail", CLERK.email);
  await page.fill("Password", PASSWORD);
  await page.expectAccessible();
  await page.click("button", "Create the administrator");
  expect((await screen.findByRole("alert")).textContent).toBe("The set-up token is another one.");
  await page.fill("Set-up token", " s3t ");
  await page.click("button", "Create the administrator");
  await waitFor(() => expect(server.user).toBe(CLERK));
});

test("the set-up token goes along to the provider, in no address", async () => {
  const server = unset();
  server.answer("beginOpenidByScript", () => new Response("https://provider.example/login?state=1"));
  const page = await openPage("/fleet#setup=s3t", server);
  await page.click("button", "Log in with your organization");
  await waitFor(() => expect(page.left).toEqual(["https://provider.example/login?state=1"]));
  const [asked] = server.asked("beginOpenidByScript");
  expect(asked?.headers.get("X-Setup-Token")).toBe("s3t");
  expect(asked?.body).toEqual({ to: "/fleet" });
});

test("who becomes the first administrator by the provider is asked for streets too", async () => {
  const server = unset();
  server.answer("getServer", serverOf({ newServer: true, openIdEnabled: true, openIdForce: true }));
  server.answer("beginOpenidByScript", () => new Response("https://provider.example/login?state=1"));
  server.answer("changeServerSettings", { sections: [] });
  const page = await openPage("/fleet#setup=s3t", server);
  await page.click("radio", "None");
  await page.expectAccessible();
  await page.click("button", "Log in with your organization");
  await waitFor(() => expect(page.left).toHaveLength(1));
  expect(server.asked("changeServerSettings")).toEqual([]);
  // Back from the provider.
  server.user = { ...CLERK, administrator: true };
  const back = await openPage("/fleet", server);
  await waitFor(() => expect(back.left).toHaveLength(1));
  expect(server.asked("changeServerSettings").map(({ body }) => body)).toEqual([
    { map: { tiles: "none", file: null } },
  ]);
  expect(sessionStorage.getItem("motorpool.streets")).toBeNull();
});

test("log out leaves nothing of the fleet in page and browser", async () => {
  const server = new FakeServer();
  server.devices = [deviceOf(1)];
  server.answer("deleteSession", () => {
    server.user = null;
    return null;
  });
  localStorage.setItem("motorpool.user.captures.1", "[]");
  localStorage.setItem("motorpool.user.atOnce", "[1]");
  localStorage.setItem("motorpool.theme", "dark");
  const page = await openPage("/fleet", server);
  await screen.findByText("Van 1");
  await page.click("button", "Log out");
  await waitFor(() => expect(page.left).toEqual(["/login"]));
  await waitFor(() => expect(screen.queryByText("Van 1")).toBeNull());
  expect(Object.keys(localStorage)).toEqual(["motorpool.theme"]);
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
