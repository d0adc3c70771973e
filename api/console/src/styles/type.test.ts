import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SRC = new URL("..", import.meta.url);
/** Pixels; smaller type is hard to read. */
const LEAST = 13;
/** What 1rem is unless the reader has chosen another size. */
const REM = 16;

/** All sizes of type that a file sets, as they are written, with their pixels. */
function sizesIn(file: string): [text: string, pixels: number][] {
  const text = readFileSync(new URL(file, SRC), "utf8");
  const declared = [
    ...text.matchAll(/(?:font-size:|font:)\s*([\d.]+)(px|rem|em)\b|\b([\d.]+)(px) \$\{font/g),
  ];
  const ofMap = [...text.matchAll(/"text-size": (.*),$/gm)];
  return [
    ...declared.map(([whole, css, unit, canvas]): [string, number] => [
      `${file}: ${whole}`,
      // An em is at most what is around it, which is at most all that is written elsewhere.
      Number(css ?? canvas) * (unit === "rem" ? REM : unit === "em" ? LEAST : 1),
    ]),
    ...ofMap.flatMap(([whole, value = ""]): [string, number][] => {
      // Of an interpolation the stops: value, size, value, size.
      const numbers = [...value.matchAll(/[\d.]+/g)].map(Number);
      const sizes = numbers.filter((_, index) => numbers.length === 1 || index % 2 === 1);
      return sizes.map((size) => [`${file}: ${whole}`, size]);
    }),
  ];
}

test("no type is smaller than 13 pixels, on pages, maps and graphs", () => {
  const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
    (each) => /\.(css|tsx?)$/.test(each) && !each.includes(".test."),
  );
  const sizes = files.flatMap(sizesIn);
  expect(sizes.length).toBeGreaterThan(60);
  expect(sizes.filter(([, pixels]) => !(pixels >= LEAST))).toEqual([]);
});
