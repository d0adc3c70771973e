/**
 * What browser and page keep for users, from one visit to the next or shorter: it is deleted when they log out.
 *
 * What only says how this browser shows things, such as the theme, stays; no name, place or vehicle is in it.
 */

const PREFIX = "motorpool.user.";

/** The JSON value of a key; null if there is none, or it is damaged. */
export function readForUser(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + key) ?? "null");
  } catch {
    return null;
  }
}

/** Keep a value until the user logs out. */
export function keepForUser(key: string, value: unknown): void {
  localStorage.setItem(PREFIX + key, JSON.stringify(value));
}

/** As `readForUser`, of what is kept as long as this tab. */
export function readForTab(key: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + key) ?? "null");
  } catch {
    return null;
  }
}

/** Keep a value until the tab is closed or the user logs out; null deletes it. */
export function keepForTab(key: string, value: unknown): void {
  if (value === null) sessionStorage.removeItem(PREFIX + key);
  else sessionStorage.setItem(PREFIX + key, JSON.stringify(value));
}

/** What is kept as long as the page, or until the user logs out. */
export const keptForPage = new Map<string, unknown>();

/** Delete what is kept for users. */
export function forgetUsers(): void {
  keptForPage.clear();
  for (const storage of [localStorage, sessionStorage])
    for (const key of Object.keys(storage)) if (key.startsWith(PREFIX)) storage.removeItem(key);
}
