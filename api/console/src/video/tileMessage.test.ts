import { beforeAll, expect, test } from "vitest";
import { setLanguage } from "../i18n/translate";
import { begin, type Event, step } from "./states";
import { type Facts, tileMessage } from "./tileMessage";

beforeAll(() => setLanguage("en"));

const STYLE = { language: "en", zone: "UTC" };
const WELL = { rate: 1, short: 0, dropped: 0 };
const FACTS: Facts = {
  camera: "3",
  lastUpdate: Date.UTC(2026, 4, 1, 14, 2),
  figures: WELL,
  skipped: 0,
  playing: 9,
};

function said(
  events: readonly Event[],
  { online = true, now = 0, ...facts }: Partial<Facts & { online: boolean; now: number }> = {},
) {
  const state = events.reduce((each, event) => step(each, event, 0), begin(online));
  return tileMessage(state, { ...FACTS, ...facts }, now, STYLE);
}

const TURN: Event = { type: "turn" };
const PICTURE: readonly Event[] = [TURN, { type: "listed" }, { type: "picture" }];

test("a tile without a turn is next", () => {
  expect(said([])?.text).toBe("Next");
});

test("the wait for the vehicle is counted, with a bar to ten seconds", () => {
  expect(said([TURN], { now: 4200 })).toEqual({
    text: "Asking the vehicle … 4 s",
    tone: "wait",
    progress: 0.4,
  });
  expect(said([TURN], { now: 30_000 })?.progress).toBe(1);
});

test("an offline vehicle says since when, and that it starts by itself", () => {
  const empty: readonly Event[] = [TURN, { type: "nothingListed" }];
  expect(said(empty, { online: false })?.text).toBe("Offline since 14:02. Starts by itself when it is back.");
  expect(said(empty, { online: false, lastUpdate: null })?.text).toBe(
    "Offline. Starts by itself when it is back.",
  );
});

test("an online vehicle without a picture is asked again", () => {
  expect(said([TURN, { type: "nothingListed" }], { now: 500 })?.text).toBe(
    "The vehicle sends no picture from camera 3. Asked again in 8 s.",
  );
});

test("a good picture says nothing", () => {
  expect(said(PICTURE)).toBeNull();
});

test("a weak line says how weak", () => {
  expect(said(PICTURE, { figures: { ...WELL, rate: 0.6, short: 2 } })?.text).toBe(
    "Weak line from the vehicle: 60 % of real time.",
  );
  expect(said(PICTURE, { figures: { ...WELL, rate: null, short: 7 } })?.text).toBe(
    "Weak line from the vehicle.",
  );
});

test("a slow computer offers stills", () => {
  const slow = said(PICTURE, { figures: { ...WELL, dropped: 0.3 } });
  expect(slow?.text).toBe("This computer is too slow for 9 pictures.");
  expect(slow?.act).toBe("stills");
});

test("what was left out is said", () => {
  expect(said(PICTURE, { skipped: 4 })?.text).toBe("4 s left out.");
});

test("the picture of a vehicle that went offline says so once it stands still", () => {
  const gone: readonly Event[] = [...PICTURE, { type: "online", online: false }];
  expect(said(gone)).toBeNull();
  expect(said(gone, { figures: { ...WELL, short: 1 } })?.text).toBe("Offline since 14:02.");
});

test.each([
  [404, "", /^Not yours, or no such camera\.$/],
  [503, "", /^The server is busy or its database is away\. Asked again in [12] s\.$/],
  [403, "video is disabled", /^Video is disabled\.$/],
])("status %i has its sentence", (status, text, wanted) => {
  expect(said([TURN, { type: "refused", status, text }])?.text).toMatch(wanted);
});

test("a coding that the browser lacks, and broken pictures", () => {
  expect(said([TURN, { type: "listed" }, { type: "codec" }])).toEqual({
    text: "H.265: this browser cannot play it.",
    tone: "bad",
    act: "keep",
  });
  expect(said([...PICTURE, { type: "broken", restarted: false }])?.text).toMatch(
    /^Broken pictures from the camera\. Asked again in [12] s\.$/,
  );
});
