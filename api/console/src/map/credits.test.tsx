import { expect, test } from "vitest";
import { creditsOf } from "./credits";

test("sources are named with their links and without anything that runs", () => {
  const html =
    '<a href="https://openfreemap.org" target="_blank">OpenFreeMap</a> <a\n href=\'https://www.openmaptiles.org/\'>&copy; OpenMapTiles</a> Data from  <b>all</b>';
  expect(creditsOf(html)).toEqual([
    { text: "OpenFreeMap", href: "https://openfreemap.org" },
    { text: "© OpenMapTiles", href: "https://www.openmaptiles.org/" },
    { text: "Data from" },
    { text: "all" },
  ]);
  expect(creditsOf('<a href="javascript:alert(1)" onclick="x()">A & B</a><script>alert(1)</script>')).toEqual(
    [{ text: "A & B" }],
  );
  expect(creditsOf("")).toEqual([]);
});
