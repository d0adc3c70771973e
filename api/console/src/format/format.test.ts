import { describe, expect, test } from "vitest";
import { compassPoint, coordinates } from "./coordinates";
import { type Style, styleOf } from "./style";
import { clockTime, date, dateTime, duration, shortTime, timeRange, utc } from "./times";
import { altitude, bytes, distance, speed, volume } from "./units";

const style: Style = {
  language: "en",
  zone: "Europe/Berlin",
  speedUnit: "kmh",
  distanceUnit: "km",
  altitudeUnit: "m",
  volumeUnit: "ltr",
  coordinateFormat: "dd",
};

describe("preferences", () => {
  const user = { coordinateFormat: "dms", attributes: { speedUnit: "mph", timezone: "Asia/Tokyo" } };
  const server = {
    coordinateFormat: "ddm",
    attributes: { speedUnit: "kn", distanceUnit: "nmi", timezone: "Europe/Lisbon" },
  };

  test("the user's, then the server's, then the default", () => {
    expect(styleOf(user, server, "en")).toMatchObject({
      coordinateFormat: "dms",
      speedUnit: "mph",
      distanceUnit: "nmi",
      zone: "Asia/Tokyo",
      altitudeUnit: "m",
    });
  });

  test("a server that forces its own", () => {
    expect(styleOf(user, { ...server, forceSettings: true }, "en")).toMatchObject({
      coordinateFormat: "ddm",
      speedUnit: "kn",
      zone: "Europe/Lisbon",
    });
  });

  test("values nobody knows do not count", () => {
    const odd = { coordinateFormat: "", attributes: { speedUnit: "parsec", timezone: "Nowhere/At_all" } };
    expect(styleOf(odd, server, "en")).toMatchObject({
      coordinateFormat: "ddm",
      speedUnit: "kn",
      zone: "Europe/Lisbon",
    });
    expect(styleOf(null, null, "en")).toMatchObject({ speedUnit: "kmh", coordinateFormat: "dd" });
  });
});

describe("units", () => {
  test("in the reader's units and language", () => {
    expect(speed(30, style)).toBe("56 km/h");
    expect(speed(-0.1, style)).toBe("0 km/h");
    expect(speed(30, { ...style, speedUnit: "mph" })).toBe("35 mph");
    expect(distance(12_345, style)).toBe("12.3 km");
    expect(distance(12_345_678, { ...style, language: "pt" })).toBe("12.346 km");
    expect(distance(1609.344, { ...style, distanceUnit: "mi" })).toBe("1.0 mi");
    expect(altitude(1000, { ...style, altitudeUnit: "ft" })).toBe("3,281 ft");
    expect(volume(3.785411784, { ...style, volumeUnit: "usGal" })).toBe("1.0 US gal");
  });

  test("bytes", () => {
    expect([0, 999, 1000, 18_400_000, 999_600].map((count) => bytes(count, style))).toEqual([
      "0 B",
      "999 B",
      "1.0 kB",
      "18 MB",
      "1.0 MB",
    ]);
  });
});

describe("places", () => {
  test("in three ways, rounded without sixty of anything", () => {
    expect(coordinates(52.5163, -13.3777, style)).toBe("52.51630, -13.37770");
    expect(coordinates(52.5163, -13.3777, { ...style, coordinateFormat: "ddm" })).toBe(
      "52° 30.978' N, 13° 22.662' W",
    );
    expect(coordinates(-52.5163, 13.3777, { ...style, coordinateFormat: "dms" })).toBe(
      `52° 30' 58.7" S, 13° 22' 39.7" E`,
    );
    expect(coordinates(59.9999999, 0, { ...style, coordinateFormat: "dms" })).toBe(
      `60° 0' 0.0" N, 0° 0' 0.0" E`,
    );
  });

  test("courses", () => {
    expect([0, 44, 90, 337.4, 359, -90].map(compassPoint)).toEqual(["N", "NE", "E", "NW", "N", "W"]);
  });
});

describe("times", () => {
  const instant = Date.parse("2026-11-22T13:32:07Z");

  test("in the reader's zone", () => {
    expect(clockTime(instant, style)).toBe("14:32");
    expect(date(instant, style)).toBe("Sun, Nov 22, 2026");
    expect(dateTime(instant, style)).toBe("Nov 22, 2026, 14:32:07");
    expect(utc(instant)).toBe("2026-11-22 13:32:07 UTC");
  });

  test("the day is written where it is another one there", () => {
    expect(shortTime(instant, instant + 3_600_000, style)).toBe("14:32");
    expect(shortTime(instant, instant + 36_000_000, style)).toBe("Nov 22, 14:32");
    expect(shortTime(instant, instant + 36_000_000, { ...style, zone: "UTC" })).toBe("13:32");
  });

  test("a span names its days if there are two, or if it is not today", () => {
    const [hour, day] = [3_600_000, 86_400_000];
    expect(timeRange(instant, instant + hour, instant, style)).toBe("14:32 – 15:32");
    expect(timeRange(instant, instant + hour, instant + 2 * day, style)).toBe("Nov 22, 14:32 – 15:32");
    expect(timeRange(instant - day, instant, instant, style)).toBe("Nov 21, 14:32 – Nov 22, 14:32");
  });

  test("lengths", () => {
    const lengths = [-5, 45_900, 60_000, 7_800_000, 7_200_000, 273_600_000];
    expect(lengths.map((each) => duration(each, style))).toEqual([
      "0 s",
      "45 s",
      "1 min",
      "2 h 10 min",
      "2 h",
      "3 d 4 h",
    ]);
  });
});
