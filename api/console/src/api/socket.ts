/** The page's one WebSocket (docs/http-api.md#websocket): reconnects, and has everything read anew after a gap. */

import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { delayOf } from "./backoff";
import { onWake } from "./sleepDetection";
import type { Device, Event, LoggedCommand, Position } from "./types";

/** What a message may hold. */
export interface Message {
  devices?: Device[];
  positions?: Position[];
  events?: Event[];
  /** Events with another review; empty: some may be missing. */
  reviews?: Event[];
  /** Commands of the log that are new or have changed; empty: some may be missing. */
  commands?: LoggedCommand[];
  tickets?: { id: number; companyId: number; version: number }[];
  logs?: LogRecord[];
  conditions?: Condition[];
}

/** Something that is wrong with the server, for administrators (docs/server.md#conditions). */
export interface Condition {
  name: string;
  since: string;
  text: string;
  cause: string;
}

/** A line of the protocol log, for those who asked for it. */
export interface LogRecord {
  host?: string;
  protocol?: string;
  uniqueId?: string;
  deviceId?: number;
  data?: string;
  /** Why it was refused or a frame dropped, or the connection ended before a login. */
  problem?: string;
  /** The server sent it. */
  sent?: boolean;
}

/** Without any message for this long the connection is dead: the server sends one at least each 55 s. */
const SILENCE_SECONDS = 150;

const state = signal<"connecting" | "open" | "lost">("connecting");
const since = signal<number | null>(null);
/** `lost` once a connection ended or could not be made, until the next one. */
export const connection: ReadonlySignal<"connecting" | "open" | "lost"> = state;
/** When it was lost, in milliseconds since 1970; null while it is not. */
export const lostSince: ReadonlySignal<number | null> = since;

const listeners = new Set<(message: Message) => void>();
const openers = new Set<() => Promise<void> | void>();
let socket: WebSocket | null = null;
let wanted = false;
let attempt = 0;
let retry = 0;
let silence = 0;
let endWake = () => {};
let checkSession: () => Promise<boolean> = async () => true;

/** Call `listener` with each message, in one batch of signals. Returns what ends it. */
export function listen(listener: (message: Message) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Call `opener` after each time the socket opened, the first as well: what may have been missed is read there. */
export function onOpen(opener: () => Promise<void> | void): () => void {
  openers.add(opener);
  return () => openers.delete(opener);
}

/** Open the socket and keep it open. `check` says after a loss whether the session is still good. */
export function openSocket(check: () => Promise<boolean>): void {
  checkSession = check;
  if (wanted) return;
  wanted = true;
  attempt = 0;
  state.value = "connecting";
  document.addEventListener("visibilitychange", hurry);
  window.addEventListener("online", hurry);
  endWake = onWake(giveUp);
  connect();
}

/** Close it for good; the server counts 4000 as a log-out. */
export function closeSocket(): void {
  wanted = false;
  clearTimeout(retry);
  clearTimeout(silence);
  document.removeEventListener("visibilitychange", hurry);
  window.removeEventListener("online", hurry);
  endWake();
  const closing = socket;
  socket = null;
  closing?.close(4000);
  since.value = null;
}

/** Send to the server, if the line is there: `{logs: true}` asks for the protocol log, with `deviceId` for that of one device. */
export function send(message: object): void {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function connect(): void {
  clearTimeout(retry);
  if (!wanted || socket) return;
  const made = new WebSocket(
    `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/api/socket`,
  );
  socket = made;
  made.onopen = () => {
    if (socket !== made) return;
    attempt = 0;
    batch(() => {
      state.value = "open";
      since.value = null;
    });
    watchSilence();
    for (const opener of openers) void opener();
  };
  made.onmessage = (event: MessageEvent<string>) => {
    if (socket !== made) return;
    watchSilence();
    const message = JSON.parse(event.data) as Message;
    batch(() => {
      for (const listener of listeners) listener(message);
    });
  };
  made.onclose = () => {
    if (socket === made) void lose();
  };
}

async function lose(): Promise<void> {
  socket = null;
  clearTimeout(silence);
  batch(() => {
    state.value = "lost";
    since.value ??= Date.now();
  });
  const good = await checkSession().catch(() => true);
  if (!wanted || socket) return;
  if (!good) {
    closeSocket();
    return;
  }
  clearTimeout(retry);
  retry = window.setTimeout(connect, delayOf(attempt) * 1000);
  attempt += 1;
}

function hurry(): void {
  if (wanted && !socket && !document.hidden) connect();
}

function watchSilence(): void {
  clearTimeout(silence);
  silence = window.setTimeout(giveUp, SILENCE_SECONDS * 1000);
}

/** Make another connection in place of one that is dead, whatever the browser thinks of it. */
function giveUp(): void {
  const dead = socket;
  if (!dead) return;
  socket = null;
  dead.close();
  void lose();
}
