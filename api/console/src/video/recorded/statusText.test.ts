import { expect, test } from "vitest";
import { statusText } from "./statusText";

const facts = { camera: "2", arrived: false, seconds: 7, moving: null, away: false };

test("nothing is said over a picture that moves or was paused", () => {
  expect(statusText({ name: "playing" }, facts)).toBe(null);
  expect(statusText({ name: "paused" }, facts)).toBe(null);
});

test("a wait says for what", () => {
  expect(statusText({ name: "waiting" }, facts)).toMatchObject({
    key: "film.waiting",
    values: { seconds: 7 },
  });
  expect(statusText({ name: "waiting" }, { ...facts, arrived: true })?.key).toBe("film.slow");
  expect(statusText({ name: "waiting" }, { ...facts, seconds: null })?.key).toBe("film.opening");
  expect(statusText({ name: "paused" }, { ...facts, away: true })?.key).toBe("film.away");
  expect(statusText({ name: "playing" }, { ...facts, moving: "14:50" })?.values).toEqual({ time: "14:50" });
});

test("an end without a picture is not the end of the film", () => {
  expect(statusText({ name: "ended" }, { ...facts, arrived: true })?.key).toBe("film.over");
  expect(statusText({ name: "ended" }, facts)).toMatchObject({ key: "film.nothing", tone: "warn" });
});
