/** Keeps fleet and events up to date while somebody is logged in. */

import { effect } from "@preact/signals";
import { closeSocket, connection, listen, onOpen, openSocket } from "../api/socket";
import { followConditions } from "./conditions";
import { applyEvents } from "./events";
import { applyMessage, loadFleet } from "./fleet";
import { applyReviews, loadWaiting } from "./reviews";
import { checkSession, expired, session } from "./session";

/** Links and groups may change without a message; the list is read again this often while the page is looked at. */
const REREAD_SECONDS = 300;
/** The same while there is no socket, or where the reading failed. */
const WITHOUT_SOCKET_SECONDS = 30;
/** Messages that name unknown devices have the list read once in this time. */
const UNKNOWN_SECONDS = 2;
/** How long the first reading waits for the socket, after which no change is missed. */
const FIRST_SECONDS = 0.5;

let timer = 0;
let due = Number.POSITIVE_INFINITY;

/** Follow the session: open the socket with it, close it when it ends. */
export function startLive(): void {
  listen((message) => {
    applyEvents(message);
    applyReviews(message);
    if (applyMessage(message)) readWithin(UNKNOWN_SECONDS);
  });
  onOpen(read);
  followConditions();
  effect(() => {
    if (session.value && !expired.value) {
      openSocket(checkSession);
      readWithin(FIRST_SECONDS);
    } else closeSocket();
  });
}

async function read(): Promise<void> {
  clearTimeout(timer);
  due = Number.POSITIVE_INFINITY;
  void loadWaiting().catch(() => {});
  // A failure shows as a lost line, and the next reading mends it.
  const isRead = await loadFleet().then(
    () => true,
    () => false,
  );
  readWithin(isRead && connection.peek() === "open" ? REREAD_SECONDS : WITHOUT_SOCKET_SECONDS);
}

/** Read the list after these seconds, or when it is due before. */
function readWithin(seconds: number): void {
  const at = Date.now() + seconds * 1000;
  if (due <= at) return;
  due = at;
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    due = Number.POSITIVE_INFINITY;
    if (!session.peek() || expired.peek()) return;
    if (document.hidden) readWithin(WITHOUT_SOCKET_SECONDS);
    else void read();
  }, seconds * 1000);
}
