import { screen, waitFor, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { SessionInfo } from "../../api/types";
import { openPage } from "../../testing/page";
import { FakeServer } from "../../testing/server";

function sessionOf(id: string, current: boolean): SessionInfo {
  return {
    id,
    userId: 1,
    created: "2026-05-01T10:00:00Z",
    lastUsed: "2026-05-01T11:00:00Z",
    expires: "2026-05-31T11:00:00Z",
    address: "192.0.2.1",
    userAgent: "curl/8",
    tokenId: null,
    impersonatorId: 0,
    viewOnly: false,
    current,
  };
}

test("all other sessions end with one button, which is there while there are others", async () => {
  const server = new FakeServer();
  let sessions = [sessionOf("a", true), sessionOf("b", false), sessionOf("c", false)];
  server.answer("listSessions", () => sessions);
  server.answer("endOtherSessions", () => {
    sessions = sessions.filter(({ current }) => current);
    return null;
  });
  const page = await openPage("/account", server);
  const card = within(await screen.findByRole("region", { name: "Sessions" }));
  expect(await card.findAllByText("curl/8")).toHaveLength(3);
  await page.click("button", "End all others");
  await waitFor(() => expect(card.getAllByText("curl/8")).toHaveLength(1));
  expect(card.queryByRole("button")).toBeNull();
});
