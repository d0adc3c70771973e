/** What a mailed or shared link brought along. It leaves the address bar at once, and gets into no bookmark. */

export interface Brought {
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
export function takeBrought(url: URL): { brought: Brought; rest: string } {
  const brought: Brought = { token: null, passwordReset: null, setup: null, openid: null };
  for (const name of NAMES) {
    brought[name] = url.searchParams.get(name);
    url.searchParams.delete(name);
  }
  return { brought, rest: url.pathname + url.search };
}

function take(): Brought {
  if (typeof window === "undefined") return takeBrought(new URL("http://localhost/")).brought;
  const before = window.location.pathname + window.location.search;
  const { brought, rest } = takeBrought(new URL(window.location.href));
  if (rest !== before) window.history.replaceState(null, "", rest);
  return brought;
}

/** Of the address with which the page began. */
export const brought = take();
