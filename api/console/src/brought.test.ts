import { expect, test } from "vitest";
import { takeBrought } from "./brought";

test("secrets leave the address, the rest of it stays", () => {
  const { brought, rest } = takeBrought(
    new URL("http://x/fleet?token=abc&keyword=van&passwordReset=r&openid=success"),
  );
  expect(rest).toBe("/fleet?keyword=van");
  expect(brought).toEqual({ token: "abc", passwordReset: "r", setup: null, openid: "success" });
});
