import { expect, test } from "vitest";
import { addressFor } from "./sameVehicle";

function place(text: string) {
  const url = new URL(text, "http://localhost");
  return { path: url.pathname, query: url.searchParams };
}

test.each([
  ["/", "/vehicles/7"],
  ["/fleet?keyword=van&at=3/1/2", "/vehicles/7?keyword=van"],
  ["/vehicles/5?follow=1&at=3/1/2", "/vehicles/7?follow=1"],
  ["/vehicles/5/live?channel=2", "/vehicles/7/live"],
  [
    "/vehicles/5/history?from=now-1d/d&to=now-1d/d&at=2026-05-01T10:00:00Z&channel=1",
    "/vehicles/7/history?from=now-1d/d&to=now-1d/d&at=2026-05-01T10:00:00Z",
  ],
  ["/vehicles/7/events", null],
  ["/live?tile=5.1", null],
  ["/zones/5", null],
])("%s becomes %s", (from, to) => {
  expect(addressFor(7, place(from))).toBe(to);
});
