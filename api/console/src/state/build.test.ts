import { expect, test } from "vitest";
import { isOther } from "./build";

const page = '<script type="module" crossorigin src="/console/assets/index-abc.js"></script>';

test("a page that begins with another script is another build", () => {
  expect(isOther(page, "/console/assets/index-abc.js")).toBe(false);
  expect(isOther(page, "/console/assets/index-abd.js")).toBe(true);
});

test("a server without a build has none that is newer", () => {
  expect(isOther("<h1>The console is not built</h1>", "/console/assets/index-abc.js")).toBe(false);
});
