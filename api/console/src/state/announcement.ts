/** What administrators tell all users: it follows the server while the page is looked at. */

import { computed, signal } from "@preact/signals";
import { get } from "../api/call";
import type { Server } from "../api/types";
import { expired, server, session } from "./session";
import { keepForUser, readForUser } from "./userStorage";

const EVERY_MS = 60_000;
const HIDDEN = "announcement.hidden";

const hidden = signal<unknown>(null);

/** The words; null where there are none, or the reader has hidden them. */
export const announcement = computed(() => {
  const text = server.value?.announcement?.trim();
  return text && text !== hidden.value ? text : null;
});

/** Hide the words until they change. */
export function hideAnnouncement(): void {
  const text = server.peek()?.announcement?.trim() ?? null;
  hidden.value = text;
  keepForUser(HIDDEN, text);
}

/** Show words at once that were saved here. */
export function showAnnouncement(text: string | null): void {
  const known = server.peek();
  if (known && known.announcement !== text) server.value = { ...known, announcement: text };
}

/** Ask once a minute. */
export function followAnnouncement(): void {
  hidden.value = readForUser(HIDDEN);
  setInterval(() => {
    if (document.hidden || !session.peek() || expired.peek()) return;
    get<Server>("/server").then(
      ({ announcement: text }) => showAnnouncement(text),
      // It is asked for again.
      () => {},
    );
  }, EVERY_MS);
}
