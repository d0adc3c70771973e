import { screen, within } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import type { Event, ListedEvent } from "../../api/types";
import { openPage } from "../../testing/page";
import { deviceOf, eventOf, OPEN, positionOf, userOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";

const MINUTE = 60_000;

/** A server that keeps events and their reviews as ours does. */
class Reviewed extends FakeServer {
  readonly events = new Map<number, ListedEvent>();

  constructor() {
    super();
    this.devices = [deviceOf(2, { name: "Van 802", status: "online" }), deviceOf(3, { name: "Van 803" })];
    this.positions = [positionOf(2)];
    this.answer("listEvents", ({ query }) => {
      const states = query.getAll("state");
      const severities = query.getAll("severity");
      return [...this.events.values()].filter(
        ({ review, severity }) =>
          (states.length === 0 || states.includes(review?.state ?? "")) &&
          (severities.length === 0 || severities.includes(severity ?? "")),
      );
    });
    this.answer("getEvent", ({ ids }) => this.events.get(ids[0] ?? 0) ?? refusal(404));
    this.answer("reviewEvent", ({ ids, body }) => {
      const sent = body as { state: "OPEN"; note: string | null; version: number };
      const version = this.events.get(ids[0] ?? 0)?.review?.version ?? 0;
      if (sent.version !== version)
        return refusal(400, `event ${ids[0]} was changed: it is at version ${version}`);
      return this.review(ids[0] ?? 0, sent.state, "Admin", sent.note);
    });
  }

  /** An event that waits, some minutes old. */
  add(id: number, minutes: number, fields: Partial<ListedEvent> = {}): void {
    const eventTime = new Date(Date.now() - minutes * MINUTE).toISOString();
    const attributes = { alarm: "sos" };
    this.events.set(
      id,
      eventOf(id, { deviceId: 2, eventTime, severity: "WARNING", review: OPEN, attributes, ...fields }),
    );
  }

  /** A review that somebody makes; pages are told. */
  review(
    id: number,
    state: "OPEN" | "ACKNOWLEDGED" | "DISMISSED",
    userName: string,
    note: string | null,
  ): Event {
    const event = this.events.get(id);
    if (!event) throw new Error(`no event ${id}`);
    const time = new Date().toISOString();
    const review = { state, note, userId: 1, userName, time, version: (event.review?.version ?? 0) + 1 };
    const changed = { ...event, review };
    this.events.set(id, changed);
    this.push({ reviews: [changed] });
    return changed;
  }
}

function withThree(): Reviewed {
  const server = new Reviewed();
  server.add(11, 1, { place: "Depot" });
  server.add(12, 5, { severity: "CRITICAL", attributes: { alarm: "accident" }, picture: "a.jpg" });
  server.add(13, 9, { deviceId: 3, type: "deviceOverspeed", attributes: {}, driverUniqueId: "D1" });
  server.answer("listDrivers", [{ id: 4, name: "Ana", uniqueId: "D1", attributes: {} }]);
  return server;
}

const list = () => screen.findByRole("list", { name: "Waiting for review, the most severe first" });
const texts = async () =>
  within(await list())
    .getAllByRole("listitem")
    .map(({ textContent }) => textContent);
const waitFor = (count: number) =>
  vi.waitFor(async () => expect((await texts()).length).toBe(count), { timeout: 20_000 });
const states = (server: Reviewed) => [...server.events.values()].map(({ review }) => review?.state);

test("what waits comes first, by severity, with place, vehicle, driver, picture and age", async () => {
  const server = withThree();
  const page = await openPage("/events", server);
  await screen.findByText("Ana");
  const [first, second, third] = await texts();
  expect(first).toMatch(/^Critical.*accident.*Van 802.*5 min ago/);
  expect(second).toMatch(/^Warning.*emergency button.*Depot.*Van 802.*1 min ago/);
  expect(third).toMatch(/^Warning.*Van 803.*Ana.*9 min ago/);
  expect(screen.getByRole("img", { name: /^Picture: .*accident/ }).getAttribute("src")).toBe(
    "/api/media/no02/a.jpg",
  );
  expect(screen.getByRole("link", { name: /Events.*3 wait for review/ })).toBeTruthy();
  await page.expectAccessible();
  await page.user.click(screen.getByRole("combobox", { name: "Vehicle" }));
  await page.click("option", /Van 803/);
  await waitFor(1);
  expect(page.address).toBe("/events?deviceId=3");
});

test("several are answered by the keyboard, with a note, and it is undone", async () => {
  const server = withThree();
  const page = await openPage("/events", server);
  await list();
  await page.press("jx");
  await page.press("jjX");
  await screen.findByText("3 selected");
  await page.press("jx");
  await screen.findByText("2 selected");
  await page.press("E");
  await page.user.keyboard("Called the driver{Escape}");
  await page.press("e");
  await screen.findByText("2 events acknowledged");
  await waitFor(1);
  expect(states(server)).toEqual(["ACKNOWLEDGED", "ACKNOWLEDGED", "OPEN"]);
  expect(server.events.get(12)?.review?.note).toBe("Called the driver");
  await page.click("button", "Undo");
  await waitFor(3);
  expect(states(server)).toEqual(["OPEN", "OPEN", "OPEN"]);

  // Without a selection the row where the arrows are is answered, and the next one is there.
  await page.press("kkd");
  await waitFor(2);
  await page.press("d");
  await waitFor(1);
  expect(server.events.get(13)?.review?.state).toBe("OPEN");
});

test("several are answered by the mouse, and a range with Shift", async () => {
  const server = withThree();
  const page = await openPage("/events", server);
  await list();
  const boxes = () => screen.getAllByRole("checkbox", { name: /^Select: / });
  await page.user.click(boxes()[0] as HTMLElement);
  await page.user.keyboard("{Shift>}");
  await page.user.click(boxes()[2] as HTMLElement);
  await page.user.keyboard("{/Shift}");
  await screen.findByText("3 selected");
  await page.click("button", "Dismiss");
  await screen.findByText("Nothing waits for review");
  expect(states(server)).toEqual(["DISMISSED", "DISMISSED", "DISMISSED"]);
  await page.click("button", "Show all events");
  expect(page.address).toBe("/events?state=ALL");
  expect(await screen.findAllByText(/Dismissed · Admin$/)).toHaveLength(3);
  await page.click("button", "Acknowledged");
  await screen.findByText("No reviewed event fits");
});

test("what another person reviews is gone at once, and what arrives is there", async () => {
  const server = withThree();
  await openPage("/events", server);
  await waitFor(3);
  server.review(12, "ACKNOWLEDGED", "Ben", null);
  await waitFor(2);
  server.add(14, 0, { severity: "CRITICAL" });
  const added = server.events.get(14);
  if (added) server.push({ reviews: [added] });
  await waitFor(3);
  expect((await texts())[0]).toMatch(/^Critical/);
  // More changed than was told one by one.
  server.events.delete(11);
  server.push({ reviews: [] });
  await waitFor(2);
});

test("what arrives does not move the arrows to another event", async () => {
  const server = withThree();
  const page = await openPage("/events", server);
  await waitFor(3);
  await page.press("jj");
  server.add(14, 0, { severity: "CRITICAL", attributes: { alarm: "tow" } });
  const added = server.events.get(14);
  if (added) server.push({ reviews: [added] });
  await waitFor(4);
  await page.press("e");
  await waitFor(3);
  expect(server.events.get(11)?.review?.state).toBe("ACKNOWLEDGED");
  // Then the next one, and not that which came.
  await page.press("d");
  await waitFor(2);
  expect(server.events.get(13)?.review?.state).toBe("DISMISSED");
});

test("of two people the second one is told, and sees what the first one did", async () => {
  const server = withThree();
  const page = await openPage("/events/12", server);
  await screen.findByRole("region", { name: "Review" });
  const event = server.events.get(12);
  if (event?.review) {
    // Not told yet.
    server.events.set(12, {
      ...event,
      review: { ...event.review, state: "DISMISSED", userName: "Ben", version: 2 },
    });
  }
  await page.press("e");
  await screen.findByText(/Event 12 was changed/);
  const bar = within(await screen.findByRole("region", { name: "Review" }));
  await bar.findByText("Dismissed");
});

test("the proof of an event says who reviewed it, and takes it back", async () => {
  const server = withThree();
  const page = await openPage("/events/12", server);
  const bar = within(await screen.findByRole("region", { name: "Review" }));
  bar.getByText("Critical");
  await page.fill("Note (optional)", "Towed");
  await page.click("button", "Acknowledge");
  await bar.findByText("Acknowledged");
  await bar.findByText("Towed");
  await page.expectAccessible();
  await page.click("button", "Have it wait again");
  await bar.findByText("Waits for review");
});

test("the vehicle carries what waits, and it is answered there", async () => {
  const server = withThree();
  const page = await openPage("/vehicles/2", server);
  await screen.findByRole("link", { name: /Van 802.*Critical.*accident, and 1 more/ });
  await page.click("button", /^Acknowledge: .*accident/);
  await screen.findByRole("link", { name: /Van 802.*Warning.*emergency button/ });
  await page.click("button", /^Acknowledge: .*emergency button/);
  await vi.waitFor(() => expect(screen.queryByRole("region", { name: "Waits for review" })).toBeNull());
  expect(states(server)).toEqual(["ACKNOWLEDGED", "ACKNOWLEDGED", "OPEN"]);
});

test("n opens the most severe event that waits", async () => {
  const page = await openPage("/account", withThree());
  await screen.findByRole("link", { name: /Events.*3 wait/ });
  await page.press("n");
  await page.expectAddress("/events/12");
});

test("who is read-only sees what waits, and answers nothing", async () => {
  const server = withThree();
  server.user = userOf({ administrator: false, readonly: true });
  const page = await openPage("/events", server);
  await waitFor(3);
  expect(screen.queryByRole("checkbox")).toBeNull();
  await page.press("je");
  expect(server.changes()).toEqual([]);
});
