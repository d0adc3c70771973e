/** Tokens and results in the address of a mailed or shared link. They leave the address bar at once, and get into no bookmark. */

export interface LinkTokens {
  /** A token to log in with. */
  token: string | null;
  /** A token to set a new password with. */
  passwordReset: string | null;
  /** The set-up token of a new server. */
  setup: string | null;
  /** How the login at an OpenID provider ended: `success`, `cancelled` or an error. */
  openid: string | null;
}

const NAMES = ["token", "passwordReset", "setup", "openid"] as const;

/** Take the secrets out of an address; the rest of it stays. */
export function takeLinkTokens(url: URL): { linkTokens: LinkTokens; rest: string } {
  const linkTokens: LinkTokens = { token: null, passwordReset: null, setup: null, openid: null };
  for (const name of NAMES) {
    linkTokens[name] = url.searchParams.get(name);
    url.searchParams.delete(name);
  }
  return { linkTokens, rest: url.pathname + url.search };
}

function take(): LinkTokens {
  if (typeof window === "undefined") return takeLinkTokens(new URL("http://localhost/")).linkTokens;
  const before = window.location.pathname + window.location.search;
  const { linkTokens, rest } = takeLinkTokens(new URL(window.location.href));
  if (rest !== before) window.history.replaceState(null, "", rest);
  return linkTokens;
}

/** The tokens of the address with which the page was opened. */
export const linkTokens = take();
