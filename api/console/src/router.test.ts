import { describe, expect, test } from "vitest";
import { cleanPath, match, withQuery } from "./router";

describe("patterns", () => {
  test("take their parameters", () => {
    expect(match("/vehicles/:id/live", "/vehicles/12/live")).toEqual({ id: "12" });
    expect(match("/vehicles/:id", "/vehicles/a%20b")).toEqual({ id: "a b" });
    expect(match("/share/*", "/share/a/b")).toEqual({});
  });

  test("fit whole paths only", () => {
    for (const path of [
      "/vehicles",
      "/vehicles/",
      "/vehicles/12/",
      "/vehicles/12/live",
      "/x/12",
      "/vehicles/%",
    ]) {
      expect(match("/vehicles/:id", path)).toBeNull();
    }
    expect(match("/", "/")).toEqual({});
    expect(match("/", "/fleet")).toBeNull();
  });
});

test("a slash at the end does not matter", () => {
  expect([cleanPath("/"), cleanPath("/fleet/"), cleanPath("/fleet//")]).toEqual(["/", "/fleet", "/fleet"]);
});

test("queries stay legible and have no empty parameters", () => {
  expect(withQuery("/fleet", { keyword: "", status: null, groupId: undefined })).toBe("/fleet");
  expect(withQuery("/fleet", { keyword: "a b&c", at: "12/52.5/13.4" })).toBe(
    "/fleet?keyword=a+b%26c&at=12/52.5/13.4",
  );
  expect(withQuery("/x", new URLSearchParams("tile=12.1&tile=12.2"))).toBe("/x?tile=12.1&tile=12.2");
});
