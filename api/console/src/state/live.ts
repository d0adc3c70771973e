/** Keeps fleet and events up to date while somebody is logged in. */

import { effect } from "@preact/signals";
import { closeSocket, listen, onOpen, openSocket } from "../api/socket";
import { applyEvents } from "./events";
import { applyMessage, loadFleet } from "./fleet";
import { checkSession, expired, session } from "./session";

/** Links and groups may change without a message; the list is read again this often while the page is looked at. */
const REREAD_SECONDS = 300;
/** Messages that name unknown devices have the list read once in this time. */
const UNKNOWN_SECONDS = 2;

let timer = 0;

/** Follow the session: open the socket with it, close it when it ends. */
export function startLive(): void {
  listen((message) => {
    applyEvents(message);
    if (applyMessage(message)) readSoon(UNKNOWN_SECONDS);
  });
  onOpen(read);
  effect(() => {
    if (session.value && !expired.value) openSocket(checkSession);
    else closeSocket();
  });
}

async function read(): Promise<void> {
  readSoon(REREAD_SECONDS);
  // A failure shows as a lost line, or the next reading mends it.
  await loadFleet().catch(() => {});
}

let due = Number.POSITIVE_INFINITY;

function readSoon(seconds: number): void {
  const at = Date.now() + seconds * 1000;
  if (seconds !== REREAD_SECONDS && due <= at) return;
  due = at;
  clearTimeout(timer);
  timer = window.setTimeout(() => {
    due = Number.POSITIVE_INFINITY;
    if (document.hidden || !session.peek() || expired.peek()) readSoon(REREAD_SECONDS);
    else void read();
  }, seconds * 1000);
}
