import { afterEach, expect, test } from "vitest";
import { forgetUsers, keepForTab, keepForUser, keptForPage, readForTab, readForUser } from "./userStorage";

afterEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

test("what is kept for users is forgotten with them, and what is of the browser stays", () => {
  keepForUser("a", { b: 1 });
  keepForTab("draft", { text: "Dear" });
  keptForPage.set("form", { name: "North" });
  localStorage.setItem("motorpool.language", "de");
  sessionStorage.setItem("motorpool.list", "wide");
  expect([readForUser("a"), readForTab("draft")]).toEqual([{ b: 1 }, { text: "Dear" }]);
  forgetUsers();
  expect([readForUser("a"), readForTab("draft"), keptForPage.size]).toEqual([null, null, 0]);
  expect(localStorage.getItem("motorpool.language")).toBe("de");
  expect(sessionStorage.getItem("motorpool.list")).toBe("wide");
});

test("a value that is damaged, or was deleted, is none", () => {
  sessionStorage.setItem("motorpool.user.draft", "{");
  expect(readForTab("draft")).toBeNull();
  keepForTab("draft", "x");
  keepForTab("draft", null);
  expect(sessionStorage.length).toBe(0);
});
