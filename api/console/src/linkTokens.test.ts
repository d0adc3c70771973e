import { expect, test } from "vitest";
import { linkWith, takeLinkTokens } from "./linkTokens";

const NONE = { token: null, passwordReset: null, setup: null, openid: null };

test.each([
  ["/share#token=a.b-c_d", "/share", { token: "a.b-c_d" }],
  ["/#setup=x&passwordReset=r", "/", { setup: "x", passwordReset: "r" }],
  ["/fleet?keyword=a%20b+c#token=abc&zoom=3", "/fleet?keyword=a%20b+c#zoom=3", { token: "abc" }],
  // Links of before, and how a login at a provider ended, which is no secret.
  [
    "/fleet?token=abc&keyword=van&passwordReset=r",
    "/fleet?keyword=van",
    { token: "abc", passwordReset: "r" },
  ],
  ["/tickets/17?openid=success#entry", "/tickets/17#entry", { openid: "success" }],
  // What is none of them stays as it is.
  ["/tickets/17?a=b%20c#entry", "/tickets/17?a=b%20c#entry", {}],
  ["/fleet", "/fleet", {}],
])("secrets leave %s, the rest of it stays", (address, left, found) => {
  const { linkTokens, rest } = takeLinkTokens(new URL(address, "http://x"));
  expect(rest).toBe(left);
  expect(linkTokens).toEqual({ ...NONE, ...found });
});

test("a link holds its secret where browsers send it to nobody", () => {
  const link = new URL(linkWith("/share", { token: "a+b/c=" }, "https://x"));
  expect(link.pathname + link.search).toBe("/share");
  expect(takeLinkTokens(link).linkTokens.token).toBe("a+b/c=");
});
