import { describe, expect, test } from "vitest";
import type { Shape } from "../../map/area";
import { readNumber } from "./NumberField";
import { pointsOf, readPoints } from "./points";

describe("points as text", () => {
  const holed: Shape = {
    kind: "polygon",
    rings: [
      [
        [1, 2],
        [3, 4],
        [5, 7],
      ],
      [
        [1.5, 2.5],
        [2, 3],
        [2, 3.5],
      ],
    ],
  };

  test("of a polygon have an empty line before each hole", () => {
    expect(pointsOf(holed)).toBe("1 2\n3 4\n5 7\n\n1.5 2.5\n2 3\n2 3.5");
    expect(readPoints(pointsOf(holed), "polygon")).toEqual({ shape: holed });
    expect(readPoints(`\n${pointsOf(holed)}\n\n\n`, "polygon")).toEqual({ shape: holed });
  });

  test("of a corridor are one line", () => {
    const line = [
      [52.5, 13.4],
      [52.6, 13.5],
    ] as const;
    expect(readPoints("52.5, 13.4\n\n52.6;13.5", "corridor")).toEqual({ shape: { kind: "corridor", line } });
  });

  test("say what is wrong", () => {
    expect(readPoints("1 2\n3", "corridor")).toEqual({ error: "zone.badPoint", values: { line: 2 } });
    expect(readPoints("1 2\n3 4", "polygon")).toEqual({ error: "zone.fewPoints", values: { count: 3 } });
    expect(readPoints("", "corridor")).toEqual({ error: "zone.fewPoints", values: { count: 2 } });
    const many = Array.from({ length: 2001 }, (_, index) => `${index / 100} 1`).join("\n");
    expect(readPoints(many, "corridor")).toEqual({ error: "zone.manyPoints", values: { count: 2000 } });
  });
});

test("numbers may have a comma", () => {
  expect(["12", " -3,5", ".5", "1e3", "", "1.2.3", "x"].map(readNumber)).toEqual([
    12,
    -3.5,
    0.5,
    null,
    null,
    null,
    null,
  ]);
});
