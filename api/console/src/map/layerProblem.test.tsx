import { expect, test } from "vitest";
import { problemOf, Unreadable } from "./layerProblem";

test("an error says what the server did", () => {
  const host = "tiles.example";
  const kindOf = (error: unknown) => problemOf(error, "https://tiles.example/styles/day");
  expect(kindOf(new TypeError("Failed to fetch"))).toEqual({ kind: "unreachable", host, status: 0 });
  expect(kindOf(Object.assign(new Error(), { status: 0 }))).toEqual({ kind: "unreachable", host, status: 0 });
  expect(kindOf(new DOMException("", "TimeoutError"))).toEqual({ kind: "unreachable", host, status: 0 });
  expect(kindOf(Object.assign(new Error(), { status: 503 }))).toEqual({ kind: "status", host, status: 503 });
  expect(kindOf(new Unreadable("no style"))).toEqual({ kind: "unreadable", host, status: 0 });
});
