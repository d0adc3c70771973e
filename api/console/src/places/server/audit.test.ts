import { expect, test } from "vitest";
import type { AuditAction } from "../../api/types";
import { addressOf, detailsOf, filtersOf, pageOf, requestOf } from "./audit";

const actionOf = (fields: Partial<AuditAction>): AuditAction => ({
  id: 1,
  actionTime: "2026-05-01T12:00:00Z",
  address: null,
  userId: 1,
  userEmail: null,
  actionType: "edit",
  objectType: null,
  objectId: 0,
  attributes: {},
  ...fields,
});

test("filters stand in the address, and what it says wrongly does not count", () => {
  const address = "/admin/audit?userId=3&actionType=edit&objectType=device&objectId=7";
  const filters = filtersOf(new URLSearchParams(address.split("?")[1]));
  expect(addressOf(filters)).toBe(address);
  expect(filtersOf(new URLSearchParams("userId=x&objectId=7"))).toMatchObject({
    userId: null,
    objectId: null,
  });
  const query = requestOf(filters, Date.UTC(2026, 4, 8, 12), "UTC");
  expect(query).toMatchObject({
    from: "2026-05-01T00:00:00.000Z",
    userId: 3,
    objectType: "device",
    objectId: 7,
  });
  expect(requestOf({ ...filters, span: { from: "x", to: "now" } }, 0, "UTC")).toBeNull();
});

test("objects have pages, unless they were deleted", () => {
  expect(pageOf(actionOf({ objectType: "device", objectId: 7 }))).toBe("/vehicles/7");
  expect(pageOf(actionOf({ objectType: "device", objectId: 7, actionType: "remove" }))).toBeNull();
  expect(pageOf(actionOf({ objectType: "device" }))).toBeNull();
  expect(pageOf(actionOf({ objectType: "settings" }))).toBe("/admin/server");
  expect(pageOf(actionOf({ objectType: "unheard", objectId: 7 }))).toBeNull();
  expect(pageOf(actionOf({}))).toBeNull();
});

test("attributes are told as lines, changes with before and after", () => {
  const attributes = {
    impersonatorId: 4,
    disabled: { before: false, after: true },
    name: { after: "x" },
    count: 3,
  };
  expect(detailsOf(actionOf({ attributes }))).toEqual([
    ["disabled", "false → true"],
    ["name", "– → x"],
    ["count", "3"],
  ]);
});
