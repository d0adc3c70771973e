/** The states of a live picture, from the wait for a turn to the picture and back. Pure: times are given. */

import { delayOf } from "../api/backoff";

export type Phase =
  /** Waits for its turn to ask. */
  | { name: "queued" }
  /** The playlist was asked for, and waits for the first segment. */
  | { name: "asking"; since: number }
  /** The playlist lists media; no picture is drawn yet. */
  | { name: "starting"; since: number }
  | { name: "playing" }
  /** The camera sent nothing; asked again at `retryAt`, or when the vehicle is online where that is null. */
  | { name: "empty"; retryAt: number | null }
  /** The server refused, or did not answer (status 0); tried again at `retryAt`, never where that is null. */
  | { name: "refused"; status: number; text: string; retryAt: number | null }
  /** The browser cannot play the coding. */
  | { name: "codec" }
  /** The decoder failed even after a restart. */
  | { name: "broken"; retryAt: number };

export interface State {
  phase: Phase;
  /** Whether the vehicle is online. */
  online: boolean;
  /** Attempts without a picture since the last one. */
  attempts: number;
  /** Whether the decoder was restarted once since the last picture. */
  recovered: boolean;
}

export type Event =
  | { type: "turn" }
  | { type: "listed" }
  | { type: "nothingListed" }
  | { type: "picture" }
  | { type: "refused"; status: number; text: string }
  | { type: "codec" }
  /** The decoder failed; `restarted` says that it is being restarted in place. */
  | { type: "broken"; restarted: boolean }
  /** The stream ended, or no segment came for long. */
  | { type: "ended" }
  | { type: "online"; online: boolean }
  /** The time to try again has come, or a person asked for it. */
  | { type: "due" };

/** How often an online vehicle is asked again for a picture, in seconds. */
export const EMPTY_SECONDS = 8;

export function begin(online: boolean): State {
  return { phase: { name: "queued" }, online, attempts: 0, recovered: false };
}

/** The state after an event; the same object if nothing changes. `now` is in milliseconds. */
export function step(state: State, event: Event, now: number): State {
  const { phase } = state;
  switch (event.type) {
    case "turn":
      return phase.name === "queued" ? { ...state, phase: { name: "asking", since: now } } : state;
    case "listed":
      return phase.name === "asking" ? { ...state, phase: { name: "starting", since: now } } : state;
    case "nothingListed":
      return phase.name === "asking" ? empty(state, now) : state;
    case "picture":
      if (phase.name === "playing") return state;
      return { ...state, phase: { name: "playing" }, attempts: 0, recovered: false };
    case "refused":
      return refused(state, event.status, event.text, now);
    case "codec":
      return { ...state, phase: { name: "codec" } };
    case "broken":
      return event.restarted ? { ...state, recovered: true } : broken(state, now);
    case "ended":
      return state.online ? { ...state, phase: { name: "queued" } } : empty(state, now);
    case "online":
      return wentOnline(state, event.online);
    case "due":
      return dueAt(state) !== null || phase.name === "refused"
        ? { ...state, phase: { name: "queued" } }
        : state;
  }
}

/** When the state changes by itself, or null. */
export function dueAt({ phase }: State): number | null {
  return "retryAt" in phase ? phase.retryAt : null;
}

function empty(state: State, now: number): State {
  const retryAt = state.online ? now + EMPTY_SECONDS * 1000 : null;
  return { ...state, attempts: state.attempts + 1, phase: { name: "empty", retryAt } };
}

function refused(state: State, status: number, text: string, now: number): State {
  // What the session or the rights do not give, no repetition gives.
  const final = status >= 400 && status < 500 && status !== 429;
  const retryAt = final ? null : retryTime(state, now);
  return { ...state, attempts: state.attempts + 1, phase: { name: "refused", status, text, retryAt } };
}

function broken(state: State, now: number): State {
  const phase: Phase = { name: "broken", retryAt: retryTime(state, now) };
  return { ...state, attempts: state.attempts + 1, recovered: false, phase };
}

function retryTime(state: State, now: number): number {
  return now + delayOf(state.attempts) * 1000;
}

function wentOnline(state: State, online: boolean): State {
  if (state.online === online) return state;
  if (state.phase.name !== "empty") return { ...state, online };
  if (online) return { ...state, online, attempts: 0, phase: { name: "queued" } };
  return { ...state, online, phase: { name: "empty", retryAt: null } };
}
