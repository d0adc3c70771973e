import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import { openPage } from "../../testing/page";
import { deviceOf, userOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

const GUEST = userOf({ id: 7, name: "", email: "guest", administrator: false, temporary: true });
const OVER = "This link has ended";

/** A server with two vehicles of a group, and a token that makes a guest of whoever brings it. */
function sharing(): FakeServer {
  const server = new FakeServer();
  server.devices = [deviceOf(1, { groupId: 4 }), deviceOf(2, { groupId: 4 })];
  server.answer("listGroups", [{ id: 4, name: "South", groupId: 0, attributes: {} }]);
  server.answer("logInByToken", ({ body }) => {
    if ((body as Record<string, string>).token !== "c2hhcmU") return refusal(404);
    server.user = GUEST;
    return GUEST;
  });
  return server;
}

test("when a link ends, so does the page", async () => {
  const server = sharing();
  server.user = null;
  server.devices = [deviceOf(2)];
  const page = await openPage("/share#token=c2hhcmU", server);
  await screen.findByRole("heading", { name: "Van 2" });
  expect(page.address).toBe("/share");
  server.user = null;
  server.drop();
  await screen.findByRole("heading", { name: OVER });
  expect(screen.queryByText("Van 2")).toBeNull();
});

test("a link that has ended says so", async () => {
  const server = sharing();
  server.user = null;
  const page = await openPage("/share#token=b3Zlcg", server);
  await screen.findByRole("heading", { name: OVER });
  expect(page.address).toBe("/share");
});

test("a link of a group asks before it logs out", async () => {
  const server = sharing();
  server.answer("listShares", [
    {
      id: "s1",
      userId: 1,
      deviceId: 0,
      groupId: 4,
      issued: "2026-05-01T10:00:00Z",
      expires: "2026-05-01T11:00:00Z",
    },
  ]);
  let page = await openPage("/account", server);
  const links = within(await screen.findByRole("region", { name: "Share links" }));
  await links.findByText("Group South");

  page = await openPage("/share#token=c2hhcmU", server);
  await screen.findByRole("heading", { name: "Open this link as a guest?" });
  await page.click("button", "Stay logged in");
  await screen.findByRole("navigation", { name: "Places" });
  expect(screen.queryByRole("heading", { name: "Account" })).toBeNull();
  expect(server.user?.temporary).toBe(false);

  page = await openPage("/share#token=c2hhcmU", server);
  await page.click("button", "Log out and open it");
  await waitFor(() => expect(page.left).toEqual(["/share"]));
  page = await openPage("/share", server);
  const list = within(await screen.findByRole("region", { name: "Shared vehicles" }));
  await waitFor(() => expect(list.getAllByRole("link")).toHaveLength(2));
  await page.user.click(list.getByRole("link", { name: /Van 2/ }));
  await screen.findByRole("heading", { name: "Van 2" });
  await page.click("link", "All shared vehicles");
  const again = within(await screen.findByRole("region", { name: "Shared vehicles" }));
  const names = again.getAllByRole("link").map(({ textContent }) => textContent);
  expect(names).toEqual([expect.stringContaining("Van 1"), expect.stringContaining("Van 2")]);
});
