import { describe, expect, test } from "vitest";
import { readArea, readPlace, type Shape, writeArea } from "./area";

describe("areas", () => {
  const shapes: readonly [string, Shape][] = [
    ["CIRCLE (52.5 13.4, 250)", { kind: "circle", center: [52.5, 13.4], radius: 250 }],
    [
      "LINESTRING (52.5 13.4, -33.9 -70.25)",
      {
        kind: "corridor",
        line: [
          [52.5, 13.4],
          [-33.9, -70.25],
        ],
      },
    ],
    [
      "POLYGON ((1 2, 3 4, 5 7, 1 2), (1.5 2.5, 2 3, 2 3.5, 1.5 2.5))",
      {
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
      },
    ],
  ];

  test.each(shapes)("%s is read and written with latitude first", (text, shape) => {
    expect(readArea(text)).toEqual(shape);
    expect(writeArea(shape)).toBe(text);
  });

  test("rings need not be closed, and spaces do not count", () => {
    expect(readArea(" POLYGON((1 2,3 4 , 5 7))")).toEqual({
      kind: "polygon",
      rings: [
        [
          [1, 2],
          [3, 4],
          [5, 7],
        ],
      ],
    });
  });

  test.each([
    "",
    "POINT (1 2)",
    "CIRCLE (1 2)",
    "CIRCLE (1 2, 3, 4)",
    "CIRCLE (91 2, 3)",
    "CIRCLE (1 361, 3)",
    "CIRCLE (1 2, -3)",
    "LINESTRING (1 2)",
    "LINESTRING (1 2, 3)",
    "LINESTRING (1 2, 3 x)",
    "POLYGON (1 2, 3 4, 5 6)",
    "POLYGON ((1 2, 3 4))",
    "POLYGON ((1 2, 3 4, 1 2))",
    "POLYGON ((1 2, 3 4, 5 6), )",
    "MULTIPOLYGON (((1 2, 3 4, 5 6)))",
  ])("%j is none", (text) => expect(readArea(text)).toBeNull());

  test("numbers have six decimals at most and no exponents", () => {
    expect(writeArea({ kind: "circle", center: [1e-7, -0.1234567], radius: 1e-9 })).toBe(
      "CIRCLE (0 -0.123457, 0)",
    );
    expect(writeArea({ kind: "circle", center: [-1e-9, 100], radius: 1000 })).toBe("CIRCLE (0 100, 1000)");
  });
});

test("a place is a latitude and a longitude", () => {
  expect(readPlace(" 52.5   13.4 ")).toEqual([52.5, 13.4]);
  for (const text of ["52.5", "52.5, 13.4", "91 0", "1 2 3", ""]) expect(readPlace(text)).toBeNull();
});
