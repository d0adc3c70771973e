/** Who is logged in, what the server allows, and how values are written for this reader. */

import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import { get, onUnauthorized, Problem, post, put, remove } from "../api/call";
import { closeSocket } from "../api/socket";
import type { Server, User } from "../api/types";
import { type Style, styleOf } from "../format/style";
import { chooseLanguage, locale, setLanguage } from "../i18n/translate";
import { forgetUsers } from "./userStorage";

/** The user; null where nobody is logged in, undefined until that is known. */
export const session = signal<User | null | undefined>(undefined);
/** The server's settings; undefined until they are known. */
export const server = signal<Server | undefined>(undefined);
/** The session ended under an open page: what is shown stays, and a dialog asks to log in again. */
export const expired = signal(false);

/** Who is logged in only to set up one-time codes, which the server demands; `session` is null then. */
export const limited = signal<User | null>(null);

/** The token of a share link that was opened while somebody is logged in here: following it would log them out. */
export const invitation = signal<string | null>(null);

/** How values are written for this reader. */
export const style: ReadonlySignal<Style> = computed(() =>
  styleOf(session.value ?? null, server.value ?? null, locale.value),
);

/** What a page may offer; the server decides anew whatever is asked of it. */
export type Action =
  | "edit"
  | "editDevices"
  | "addDevices"
  | "command"
  | "video"
  | "anyCommand"
  | "reports"
  | "review"
  | "administer"
  | "manageUsers"
  | "share"
  | "token";

/** What a session that only shows what its user sees has none of. */
const CHANGES: ReadonlySet<Action> = new Set<Action>([
  "edit",
  "editDevices",
  "addDevices",
  "command",
  "video",
  "anyCommand",
  "review",
  "share",
]);

/** Whether the user may do this, by their flags and those that the server forces (docs/users.md#restrictions). */
export function may(action: Action): boolean {
  const user = session.value;
  if (!user || (user.viewOnly && CHANGES.has(action))) return false;
  const limited = (flag: "readonly" | "deviceReadonly" | "disableReports" | "limitCommands") =>
    !user.administrator && (user[flag] || Boolean(server.value?.forceSettings && server.value[flag]));
  switch (action) {
    case "administer":
      return user.administrator;
    case "manageUsers":
      return user.administrator || user.userLimit !== 0;
    case "edit":
      return !limited("readonly");
    case "editDevices":
      return !limited("readonly") && !limited("deviceReadonly");
    case "addDevices":
      return may("editDevices") && (user.administrator || user.deviceLimit !== 0);
    case "reports":
      return !limited("disableReports");
    case "review":
      return !user.temporary && !limited("readonly") && !limited("disableReports");
    case "share":
      return !user.temporary && !limited("readonly") && !server.value?.attributes.disableShare;
    case "token":
      return !user.temporary;
    case "command":
      return true;
    case "video":
      return !limited("readonly") && !limited("limitCommands");
    case "anyCommand":
      return !limited("limitCommands");
  }
}

/**
 * Read server and session, and load the language. With `shared` the token is that of a share link, which is not
 * followed while somebody is logged in. Throws a `Problem` if the server does not answer.
 */
export async function startSession(token: string | null, shared = false): Promise<void> {
  const [found, user] = await Promise.all([
    get<Server>("/server"),
    token && shared ? readInvited(token) : readSession(token),
  ]);
  await show(user, found);
  onUnauthorized(showExpired);
}

function showExpired(): void {
  if (session.value) expired.value = true;
}

async function readInvited(token: string): Promise<User | null> {
  const own = await readSession(null);
  if (!own || own.temporary) return readSession(token);
  invitation.value = token;
  return own;
}

/** Follow the share link of `invitation`, as its guest. */
export async function acceptInvitation(): Promise<void> {
  await endSession(() => readSession(invitation.value));
  forgetUsers();
  location.replace("/share");
}

/** Do what ends the session of this page. Throws a `Problem` if the session goes on. */
async function endSession(end: () => Promise<unknown>): Promise<void> {
  // Requests under way belong to the session that ends here: their refusal is no news.
  onUnauthorized(() => {});
  try {
    await end();
  } catch (problem) {
    onUnauthorized(showExpired);
    throw problem;
  }
}

/** The user of the session, or of the one that begins with a token; null if there is none. */
async function readSession(token: string | null): Promise<User | null> {
  try {
    if (!token) return await get<User>("/session");
    // In the body: logs of proxies show addresses.
    return await post<User>("/session/token/login", new URLSearchParams({ token }));
  } catch (problem) {
    if (problem instanceof Problem && (problem.status === 404 || problem.status === 401)) return null;
    throw problem;
  }
}

/** Whether the session of the page is still good; if not, the page asks for a new one. */
export async function checkSession(): Promise<boolean> {
  const user = await readSession(null);
  if (user && user.id === session.value?.id) return true;
  showExpired();
  return false;
}

/** Log in. Throws a `Problem`; one with the scheme `TOTP` asks for a one-time code. */
export async function login(email: string, password: string, code = ""): Promise<void> {
  const form = new URLSearchParams({ email, password });
  if (code) form.set("code", code);
  const user = await post<User>("/session", form);
  // Another user sees nothing of what was on the page.
  if (session.value && session.value.id !== user.id) {
    forgetUsers();
    location.replace("/fleet");
  }
  // Some settings are shown to users only.
  await show(user, await get<Server>("/server"));
}

/**
 * Log out, and leave nothing of the fleet in the page, in its memory and in what the browser keeps for the user. Throws
 * a `Problem` if the session goes on.
 */
export async function logout(): Promise<void> {
  await endSession(() => remove("/session"));
  closeSocket();
  forgetUsers();
  // As before it was known: what the browser keeps of the page, to go back to, shows nothing either.
  session.value = undefined;
  location.replace("/login");
}

/**
 * Go on as another user, with `viewOnly` only to see what they see. The page is loaded anew. Throws a `Problem` if the
 * session stays.
 */
export async function actAs(userId: number, viewOnly: boolean): Promise<void> {
  await endSession(() => get<User>(`/session/${userId}`, { viewOnly }));
  closeSocket();
  location.replace("/fleet");
}

/** Leave the session as another user for one's own, at that user's page. Throws a `Problem` if the session stays. */
export async function actBack(): Promise<void> {
  const user = session.value;
  if (!user?.impersonatorId) return;
  await endSession(() => get<User>(`/session/${user.impersonatorId}`));
  closeSocket();
  location.replace(`/admin/users/${user.id}`);
}

/** Save the user's own record, and show it. */
export async function saveUser(changes: Partial<User>): Promise<void> {
  const user = session.value;
  if (!user) return;
  // Another page may have changed what this one does not touch.
  const current = await get<User>(`/users/${user.id}`);
  const saved = await put<User>(`/users/${user.id}`, { ...current, ...changes });
  await show(saved, server.value);
}

/** Set up the one-time codes that the server demands, and begin. */
export async function setUpCodes(totpKey: string, currentPassword: string): Promise<void> {
  const user = limited.value;
  if (!user) return;
  const current = await get<User>(`/users/${user.id}`);
  const saved = await put<User>(`/users/${user.id}`, { ...current, totpKey, currentPassword });
  // Some settings are shown to users only.
  await show(saved, await get<Server>("/server"));
}

/** Save attributes of the user; null removes one. */
export async function saveAttributes(changes: Record<string, unknown>): Promise<void> {
  const user = session.value;
  if (!user) return;
  const current = await get<User>(`/users/${user.id}`);
  const merged = Object.entries({ ...current.attributes, ...changes }).filter(([, value]) => value !== null);
  await saveUser({ attributes: Object.fromEntries(merged) });
}

async function show(user: User | null, found: Server | undefined): Promise<void> {
  await showLanguage(user, found);
  batch(() => {
    server.value = found;
    session.value = user?.totpNeeded ? null : user;
    limited.value = user?.totpNeeded ? user : null;
    expired.value = false;
  });
}

/** What somebody chose here before they logged in; it stays in this browser. */
const LANGUAGE_KEY = "motorpool.language";

/** Show the page in a language for those who have not set one in their account. */
export async function readIn(code: string): Promise<void> {
  localStorage.setItem(LANGUAGE_KEY, code);
  await showLanguage(session.value ?? limited.value, server.value);
}

async function showLanguage(user: User | null, found: Server | undefined): Promise<void> {
  const ofServer = found?.attributes.language;
  const own = [user?.attributes.language, localStorage.getItem(LANGUAGE_KEY)];
  const wished = found?.forceSettings ? [ofServer, ...own] : [...own, ofServer];
  const all = [...wished, ...navigator.languages];
  await setLanguage(chooseLanguage(...all), all);
}
