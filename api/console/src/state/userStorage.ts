/**
 * What the browser keeps for users, from one visit to the next: it is deleted when they log out.
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

/** Delete what is kept for users. */
export function forgetUsers(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
}
