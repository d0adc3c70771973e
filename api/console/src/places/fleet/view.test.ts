import { expect, test } from "vitest";
import { preferredView, readView, writeView } from "./view";

test("a view survives the address", () => {
  const view = { zoom: 12.5, latitude: -33.45, longitude: 151.2 };
  expect(readView(writeView(view))).toEqual(view);
});

test.each([null, "", "12", "12/50", "12//13", "x/50/13", "12/95/13", "12/50/200", "-1/50/13", "12/50/13/0"])(
  "%s is no view",
  (text) => {
    expect(readView(text)).toBeNull();
  },
);

test("the user's view comes before the server's, and 0° 0° is none", () => {
  const server = { latitude: 52, longitude: 13, zoom: 9 };
  expect(preferredView({ latitude: 0, longitude: 0, zoom: 0 }, server)).toEqual(server);
  expect(preferredView({ latitude: 40, longitude: 0, zoom: 0 }, server)).toEqual({
    latitude: 40,
    longitude: 0,
    zoom: 10,
  });
  expect(preferredView(null, undefined)).toBeNull();
});
