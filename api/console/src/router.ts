/** Addresses over the History API: decisions push an entry, what merely moves along replaces it. */

import { type ReadonlySignal, signal } from "@preact/signals";
import { followRedirect } from "./redirects";

export interface Location {
  path: string;
  params: Record<string, string>;
  query: URLSearchParams;
}

/** The parameters of a path that fits the pattern (`/vehicles/:id/live`), or null. A pattern's `*` takes the rest. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  const rest = wanted.at(-1) === "*";
  if (rest ? given.length < wanted.length - 1 : given.length !== wanted.length) return null;
  const params: Record<string, string> = {};
  for (const [index, piece] of wanted.entries()) {
    if (rest && index === wanted.length - 1) break;
    const found = given[index] ?? "";
    if (piece.startsWith(":")) {
      if (found === "") return null;
      const decoded = decode(found);
      if (decoded === null) return null;
      params[piece.slice(1)] = decoded;
    } else if (piece !== found) return null;
  }
  return params;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The same path without a slash at its end. */
export function cleanPath(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, "") || "/" : path;
}

/** A path with those parameters of `query` that have a value. */
export function withQuery(
  path: string,
  query: URLSearchParams | Record<string, string | null | undefined>,
): string {
  const entries = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const kept = entries.filter((entry): entry is [string, string] => Boolean(entry[1]));
  // Slashes, colons and commas may stand in a query, and are easier to read there.
  const text = new URLSearchParams(kept)
    .toString()
    .replace(/%2F/g, "/")
    .replace(/%3A/g, ":")
    .replace(/%2C/g, ",");
  return text ? `${path}?${text}` : path;
}

let patterns: readonly string[] = [];
const current = signal<Location>({ path: "/", params: {}, query: new URLSearchParams() });
/** Where the page is. */
export const location: ReadonlySignal<Location> = current;

/** Follow the address bar; parameters are those of the first pattern that fits. */
export function startRouter(known: readonly string[]): void {
  patterns = known;
  window.addEventListener("popstate", () => {
    clearTimeout(pending);
    replacement = "";
    show(window.location.pathname + window.location.search);
  });
  const path = cleanPath(window.location.pathname);
  const meant = followRedirect(path);
  if (meant !== path) window.history.replaceState(null, "", meant + window.location.search);
  show(window.location.pathname + window.location.search);
}

function show(text: string): void {
  const url = new URL(text, window.location.origin);
  const path = cleanPath(url.pathname);
  const found = patterns.map((pattern) => match(pattern, path)).find((params) => params !== null);
  current.value = { path, params: found ?? {}, query: url.searchParams };
}

/** Browsers bound how often an address may be replaced (https://html.spec.whatwg.org/#shared-history-push/replace-state-steps). */
const REPLACE_MS = 1000;
let pending = 0;
let replacement = "";
let replacedAt = 0;

/**
 * Go to an address of the console. With `replace` there is no entry in the history, and the address bar follows at
 * most once a second; the page itself follows at once.
 */
export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  const url = new URL(to, window.location.origin);
  const text = url.pathname + url.search;
  clearTimeout(pending);
  if (replace) {
    replacement = text;
    const wait = replacedAt + REPLACE_MS - Date.now();
    if (wait <= 0) flush();
    else pending = window.setTimeout(flush, wait);
  } else {
    flush();
    if (text !== window.location.pathname + window.location.search) window.history.pushState(null, "", text);
  }
  show(text);
}

function flush(): void {
  if (!replacement) return;
  window.history.replaceState(null, "", replacement);
  replacement = "";
  replacedAt = Date.now();
}
