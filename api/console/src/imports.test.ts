import { expect, test } from "vitest";

const sources = import.meta.glob<string>("./**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});
const independent = ["format", "i18n", "parts", "time"];

/** Returns the top folder of each relative import of a file such as `./map/world.ts`. */
function imported(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import\(?)\s*"(\.[^"]+)"/g)].map((found) => {
    const target = new URL(found[1] ?? "", new URL(file, "file:///"));
    return target.pathname.split("/")[1] ?? "";
  });
}

test("parts, format, time and i18n import nothing but each other, and only places import places", () => {
  const wrong: string[] = [];
  for (const [file, text] of Object.entries(sources)) {
    const folder = file.split("/")[1] ?? "";
    for (const other of imported(file, text)) {
      if (independent.includes(folder) && !independent.includes(other))
        wrong.push(`${file} imports ${other}`);
      const mayOpenPlaces = folder === "places" || folder === "testing" || !file.slice(2).includes("/");
      if (other === "places" && !mayOpenPlaces) wrong.push(`${file} imports ${other}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("the imports of a file are found", () => {
  const text =
    'import { a } from "../time/zones";\nimport "./base.css";\nconst b = import("../places/live");';
  expect(imported("./parts/Table.tsx", text)).toEqual(["time", "parts", "places"]);
});
