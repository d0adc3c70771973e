import { describe, expect, test } from "vitest";
import { allowed, mapPreferencesOf } from "./mapPreferences";

const HERE = "https://fleet.example";

describe("what a reader wants under the vehicles", () => {
  const server = { map: "osm", mapUrl: "/tiles/{z}/{x}/{y}.png", poiLayer: "/depots.kml" };

  test("is the user's, else the server's", () => {
    expect(mapPreferencesOf({ map: "custom" }, server)).toEqual({
      tiles: server.mapUrl,
      places: "/depots.kml",
    });
    expect(mapPreferencesOf({ map: "carto", poiLayer: "/mine.kml" }, { ...server, map: "custom" })).toEqual({
      tiles: null,
      places: "/mine.kml",
    });
    expect(mapPreferencesOf(null, { ...server, map: "custom" }).tiles).toBe(server.mapUrl);
    expect(mapPreferencesOf(undefined, undefined)).toEqual({ tiles: null, places: null });
  });

  test("is the server's if it forces its settings", () => {
    const forced = { ...server, forceSettings: true };
    expect(mapPreferencesOf({ map: "custom", poiLayer: "/mine.kml" }, forced)).toEqual({
      tiles: null,
      places: "/depots.kml",
    });
  });
});

test("URLs lead to this server or to a host of the settings", () => {
  const hosts = ["https://tiles.example"];
  const from = (url: string | null, known: readonly string[] = hosts) => allowed(url, known, HERE);
  expect(from("/depots.kml")).toBe("https://fleet.example/depots.kml");
  expect(from("https://fleet.example/a.kml")).toBe("https://fleet.example/a.kml");
  expect(from("https://tiles.example/other/{z}/{x}/{y}.png")).toBe(
    "https://tiles.example/other/{z}/{x}/{y}.png",
  );
  for (const url of [
    "https://tiles.example:81/a",
    "http://tiles.example/a",
    "//evil.example/a",
    "http://",
    "",
  ])
    expect(from(url)).toBeNull();
  expect(from("https://tiles.example/a", [])).toBeNull();
  expect(from(null)).toBeNull();
});
