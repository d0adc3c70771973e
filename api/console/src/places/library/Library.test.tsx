import { screen, within } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { Media } from "../../api/types";
import { openPage } from "../../testing/page";
import { deviceOf, eventOf } from "../../testing/records";
import { FakeServer, refusal } from "../../testing/server";
import { daysOf } from "./library";

function mediaOf(name: string, change: Partial<Media> = {}): Media {
  const url = `/api/media/802/${name}`;
  return {
    deviceId: 2,
    kind: "photo",
    fileName: name,
    time: "2026-06-15T11:00:00Z",
    channel: 1,
    startTime: null,
    endTime: null,
    duration: null,
    live: false,
    size: 20_000,
    url,
    playUrl: null,
    pictureUrl: `${url}/picture`,
    captureId: null,
    eventId: 7,
    alarm: null,
    kept: false,
    inTicket: false,
    ...change,
  };
}

const FILM = mediaOf("20260615110000-b.h264", {
  kind: "film",
  duration: 12_000,
  playUrl: "/api/media/802/20260615110000-b.h264/film",
  alarm: eventOf(881, { deviceId: 2, attributes: { alarm: "sos" } }),
});

/** A server with a vehicle that has sent a film and two photos, of which one is on the second page. */
function withMedia(): FakeServer {
  const server = new FakeServer();
  server.devices = [deviceOf(2, { name: "Van 802" }), deviceOf(3, { name: "Truck 1" })];
  const [newest, oldest] = [FILM, mediaOf("20260613080000-a.jpg", { time: "2026-06-13T08:00:00Z" })];
  const middle = mediaOf("20260615090000-c.jpg", { time: "2026-06-15T09:00:00Z", channel: 2 });
  server.answer("listMedia", ({ query }) =>
    query.get("after") ? { items: [oldest], next: null } : { items: [newest, middle], next: "9.0.1" },
  );
  return server;
}

const tiles = () => screen.findAllByRole("button", { name: /Van 802/ });

test("files and captures are pictures by day, page by page", async () => {
  const server = withMedia();
  const page = await openPage("/library", server);
  expect((await tiles()).map((tile) => tile.textContent)).toEqual([
    expect.stringMatching(/12 s.*Camera 1/),
    expect.stringContaining("Camera 2"),
  ]);
  await page.expectAccessible();
  await page.click("button", "Show more");
  expect(await screen.findAllByRole("region", { name: /Jun/ })).toHaveLength(2);
  expect(await tiles()).toHaveLength(3);
  expect(screen.queryByRole("button", { name: "Show more" })).toBeNull();
  expect(server.asked("listMedia").at(-1)?.query.get("after")).toBe("9.0.1");
});

test("filters stand in the address and go to the server", async () => {
  const server = withMedia();
  const page = await openPage("/captures?kind=film", server);
  await tiles();
  expect(page.address).toBe("/library?kind=film");
  const asked = () => server.asked("listMedia").at(-1)?.query;
  expect(asked()?.getAll("kind")).toEqual(["film"]);
  await page.click("button", "Photos");
  await tiles();
  expect(asked()?.getAll("kind").sort()).toEqual(["film", "photo"]);
  await page.click("button", "Kept");
  await page.click("button", "7 days");
  await tiles();
  expect(page.address).toBe("/library?kind=photo,film&days=7&kept=true");
  expect(asked()?.get("kept")).toBe("true");
  expect(asked()?.get("from")).toBeTruthy();
});

test("a key leads to the search, and the button of a phone tells how many filters are set", async () => {
  const page = await openPage("/library?kind=film&days=7&q=van", withMedia());
  await tiles();
  expect(screen.getByRole("button", { name: "Filters (2)" }).getAttribute("aria-expanded")).toBe("false");
  await page.press("/");
  const search = screen.getByRole("searchbox");
  expect(document.activeElement).toBe(search);
  await page.press("truck");
  await page.expectAddress("/library?kind=film&days=7&q=truck");
});

test("a capture has the time that it shows, and cameras of driving assistance have names", async () => {
  const server = withMedia();
  server.answer("listMedia", {
    items: [
      mediaOf("1.mp4", { time: "2026-06-15T11:00:00Z", startTime: "2026-06-15T08:30:05Z", channel: 64 }),
      mediaOf("2.mp4", { time: "2026-06-15T10:00:00Z", startTime: "2026-06-13T08:30:05Z", channel: 65 }),
    ],
    next: null,
  });
  await openPage("/library", server);
  const [first, second] = await tiles();
  expect(first?.textContent).toContain("08:30 · Road camera");
  expect(second?.textContent).toContain("Jun 13, 08:30 · Driver camera");
});

test("a search finds vehicles by their name, and says where nothing fits", async () => {
  const server = withMedia();
  const page = await openPage("/library?q=van", server);
  expect(await tiles()).toHaveLength(2);
  expect(server.asked("listMedia").at(-1)?.query.getAll("deviceId")).toEqual(["2"]);
  server.answer("listMedia", { items: [], next: null });
  await page.click("button", "Kept");
  await screen.findByText("Nothing fits the filters");
  await page.click("button", "Clear the filters");
  expect(page.address).toBe("/library");
});

test("an entry is played in place, kept, and deleted after a question", async () => {
  const server = withMedia();
  server.answer("changeMedia", { ...FILM, kept: true });
  const page = await openPage("/library", server);
  await page.user.click((await tiles())[0] as HTMLElement);
  const dialog = await screen.findByRole("dialog");
  expect(
    within(dialog)
      .getByLabelText(/button|SOS|Alarm/i)
      .getAttribute("src"),
  ).toBe(FILM.playUrl);
  expect(within(dialog).getByRole("link", { name: "Download" }).getAttribute("href")).toBe(FILM.url);
  expect(within(dialog).getByRole("link", { name: "Event and proof" }).getAttribute("href")).toMatch(
    /\/events\/881$/,
  );
  await page.click("button", "Keep");
  await screen.findByRole("button", { name: "Kept: release it" });
  expect(server.asked("changeMedia").at(-1)?.body).toEqual({ kept: true });
  expect(within(dialog).getByRole("button", { name: "Delete" })).toHaveProperty("disabled", true);
  server.answer("changeMedia", { ...FILM, kept: false });
  await page.click("button", "Kept: release it");
  await page.click("button", "Delete");
  server.answer("deleteMedia", refusal(400, "a ticket refers to the file"));
  await page.click("button", "Delete the file");
  await screen.findByText(/A ticket refers to the file/);
  server.answer("deleteMedia", null);
  await page.click("button", "Delete the file");
  await screen.findByText("The file is deleted");
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(await tiles()).toHaveLength(1);
});

test("days are those of the reader", () => {
  const items = ["2026-06-15T22:30:00Z", "2026-06-15T21:30:00Z"].map((time) => mediaOf(time, { time }));
  expect(daysOf(items, "UTC").map(({ items: { length } }) => length)).toEqual([2]);
  expect(daysOf(items, "Europe/Lisbon").map(({ items: { length } }) => length)).toEqual([2]);
  expect(daysOf(items, "Europe/Berlin").map(({ items: { length } }) => length)).toEqual([1, 1]);
});
