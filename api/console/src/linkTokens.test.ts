import { expect, test } from "vitest";
import { takeLinkTokens } from "./linkTokens";

test("secrets leave the address, the rest of it stays", () => {
  const { linkTokens, rest } = takeLinkTokens(
    new URL("http://x/fleet?token=abc&keyword=van&passwordReset=r&openid=success"),
  );
  expect(rest).toBe("/fleet?keyword=van");
  expect(linkTokens).toEqual({ token: "abc", passwordReset: "r", setup: null, openid: "success" });
});
