/**
 * Tokens and results in the address of a mailed or shared link. They leave the address bar at once, and get into no bookmark.
 *
 * Links have secrets in the fragment, which browsers send to nobody. Links of versions before 0.4.0 have them in the query,
 * as those of the Traccar web client do.
 */

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
  const fragment = new URLSearchParams(url.hash.slice(1));
  const holdsSome = isOfLink(fragment);
  for (const name of NAMES) {
    linkTokens[name] = fragment.get(name) ?? url.searchParams.get(name);
    fragment.delete(name);
    if (url.searchParams.has(name)) url.searchParams.delete(name);
  }
  if (holdsSome) url.hash = fragment.toString();
  return { linkTokens, rest: url.pathname + url.search + url.hash };
}

/** Whether a fragment is of a link with a secret; others are left as they are. */
function isOfLink(fragment: URLSearchParams): boolean {
  return NAMES.some((name) => fragment.has(name));
}

function take(): LinkTokens {
  if (typeof window === "undefined") return takeLinkTokens(new URL("http://localhost/")).linkTokens;
  const before = window.location.pathname + window.location.search + window.location.hash;
  const { linkTokens, rest } = takeLinkTokens(new URL(window.location.href));
  if (rest !== before) window.history.replaceState(null, "", rest);
  // A link to the address that is shown changes nothing but the fragment: the page would not be loaded for it.
  window.addEventListener("hashchange", () => {
    if (isOfLink(new URLSearchParams(window.location.hash.slice(1)))) window.location.reload();
  });
  return linkTokens;
}

/** The tokens of the address with which the page was opened. */
export const linkTokens = take();

/** The address of a link with a secret, which its page finds in `linkTokens`. */
export function linkWith(
  path: string,
  secret: Partial<Record<keyof LinkTokens, string>>,
  origin = window.location.origin,
): string {
  return `${origin}${path}#${new URLSearchParams(secret)}`;
}
