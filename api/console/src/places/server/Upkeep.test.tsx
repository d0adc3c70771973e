import { screen, within } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { openPage } from "../../testing/page";
import { statisticsOf, userOf } from "../../testing/records";
import { FakeServer } from "../../testing/server";
import type { Actor } from "./actors";

function treeOf(depth: number, restarts: number): { [name: string]: unknown }[] {
  const actor: Actor = {
    path: "system/directory",
    kind: "directory",
    state: "running",
    depth,
    size: 1000,
    handled: 12_345,
    restarts,
    last_error: restarts > 0 ? "ValueError: broken" : "",
    alive: 1,
    age: 7200,
    children: [],
  };
  const system = { ...actor, path: "system", kind: "supervisor", last_error: "", age: 0, children: [actor] };
  return [system as unknown as { [name: string]: unknown }];
}

function hide(hidden: boolean) {
  vi.spyOn(document, "hidden", "get").mockReturnValue(hidden);
  document.dispatchEvent(new Event("visibilitychange"));
}

test("the tree is read every two seconds, marks what grew, and stops when it is not looked at", async () => {
  const server = new FakeServer();
  let looks = 0;
  server.answer("listActors", () => {
    looks += 1;
    return treeOf(looks > 1 ? 40 : 0, looks > 1 ? 2 : 0);
  });
  const page = await openPage("/admin/actors", server);
  const row = await screen.findByRole("row", { name: /^directory/ });
  expect(row.textContent).toContain("12,345");
  expect(row.textContent).toContain("2 h");
  expect(screen.queryByRole("img", { name: "More than at the last look" })).toBeNull();
  await vi.advanceTimersByTimeAsync(2000);
  await screen.findAllByRole("img", { name: "More than at the last look" });
  expect((await screen.findByRole("row", { name: /^directory/ })).textContent).toContain(
    "ValueError: broken",
  );
  screen.getAllByRole("img", { name: "2 since this page was opened" });
  await page.expectAccessible();
  hide(true);
  const asked = server.asked("listActors").length;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(server.asked("listActors").length).toBe(asked);
  hide(false);
  await vi.waitFor(() => expect(server.asked("listActors").length).toBe(asked + 1));
  // Left, it asks no more.
  await page.click("link", "Statistics");
  const left = server.asked("listActors").length;
  await vi.advanceTimersByTimeAsync(20_000);
  expect(server.asked("listActors").length).toBe(left);
  server.complaints.length = 0;
});

test("only trouble is shown on demand; memory is told, and collected after a question", async () => {
  const server = new FakeServer();
  server.answer("listActors", treeOf(0, 0));
  server.answer("getCache", "rows of devices: 7\n");
  server.answer("collectGarbage", "41 objects collected");
  const page = await openPage("/admin/actors", server);
  await screen.findByRole("row", { name: /^directory/ });
  await page.click("checkbox", "Only what waits or was restarted");
  await screen.findByText("Nothing waits, and nothing was restarted.");
  await page.click("button", "Show");
  await screen.findByText(/rows of devices: 7/);
  await page.click("button", "Collect garbage");
  expect(server.asked("collectGarbage")).toEqual([]);
  const dialog = await screen.findByRole("dialog");
  await page.user.click(within(dialog).getByRole("button", { name: "Collect garbage" }));
  await screen.findByText("The server says: 41 objects collected");
});

test("statistics are charts of a span that stands in the address", async () => {
  const server = new FakeServer();
  server.answer("listStatistics", [
    statisticsOf({ requests: 1200, activeDevices: 4, protocols: { gt06: 3 } }),
    statisticsOf({ captureTime: "2026-05-02T21:59:59Z", requests: 34 }),
  ]);
  const page = await openPage("/admin/statistics?from=2026-05-01T00:00:00Z&to=2026-05-03T00:00:00Z", server);
  await screen.findByText("1,234 in all");
  screen.getByRole("img", { name: /^Requests by day: .*1,200.*34$/ });
  screen.getByRole("row", { name: "gt06 3" });
  expect(screen.queryByRole("region", { name: "Mails sent" })).toBeNull();
  expect(server.asked("listStatistics")[0]?.query.get("from")).toBe("2026-05-01T00:00:00Z");
  await page.expectAccessible();
  server.answer("listStatistics", []);
  await page.click("button", "Last 7 days");
  await screen.findByText("Nothing was counted in this span");
  expect(page.address).toBe("/admin/statistics?from=now-7d/d&to=now");
});

test.each(["/admin/actors", "/admin/statistics"])(
  "who is no administrator sees nothing of %s",
  async (place) => {
    const server = new FakeServer();
    server.user = userOf({ administrator: false, userLimit: 5 });
    await openPage(place, server);
    await screen.findByText("You may not see this section of the administration.");
  },
);
