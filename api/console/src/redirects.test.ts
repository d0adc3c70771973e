import { expect, test } from "vitest";
import { followRedirect } from "./redirects";

test("the link of a mail leads to the place of the event", () => {
  expect(followRedirect("/event/881")).toBe("/events/881");
  expect(followRedirect("/settings/notifications")).toBe("/account");
});

test("all other addresses stay", () => {
  for (const path of ["/", "/events/881", "/event/x", "/event/1/2", "/vehicles/12"]) {
    expect(followRedirect(path)).toBe(path);
  }
});
