import { expect, test } from "vitest";
import { ElementReader } from "./elements";

const bytes = (text: string) => new TextEncoder().encode(text);

function readIn(text: string, size: number): { found: unknown[]; isEnded: boolean; pieces: number } {
  const reader = new ElementReader<unknown>();
  const all = bytes(text);
  const found: unknown[] = [];
  let pieces = 0;
  for (let at = 0; at < all.length; at += size) {
    const part = reader.add(all.slice(at, at + size));
    if (part.length > 0) pieces++;
    found.push(...part);
  }
  return { found, isEnded: reader.isEnded, pieces };
}

const list = [
  { name: 'a "quoted], {name\\', list: [1, [2, 3]], none: null },
  [],
  "text, with ] and }",
  12.5,
  { name: "Überführung 🚚" },
  {},
];

test.each([1, 2, 3, 7, 10_000])("finds the elements in pieces of %i bytes", (size) => {
  for (const text of [
    JSON.stringify(list),
    JSON.stringify(list, null, 2),
    ` [${list.map((each) => JSON.stringify(each)).join(" , ")}] `,
  ]) {
    const { found, isEnded } = readIn(text, size);
    expect(found).toEqual(list);
    expect(isEnded).toBe(true);
  }
});

test("gives elements before the list has ended", () => {
  const reader = new ElementReader<number>();
  expect(reader.add(bytes("[1,2,"))).toEqual([1, 2]);
  expect(reader.add(bytes("34"))).toEqual([]);
  expect(reader.isEnded).toBe(false);
  expect(reader.add(bytes("5]"))).toEqual([345]);
  expect(reader.isEnded).toBe(true);
});

test("an empty list has none", () => {
  for (const text of ["[]", " [ ] "])
    expect(readIn(text, 1)).toEqual({ found: [], isEnded: true, pieces: 0 });
});

test("what is cut off has not ended", () => {
  expect(readIn('[{"a":1},{"a":', 4)).toMatchObject({ found: [{ a: 1 }], isEnded: false });
});
