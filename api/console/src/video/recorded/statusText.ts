/** The status text over the picture of a recording. Pure. */

import type { Key, Values } from "../../i18n/translate";
import type { Phase } from "./player";

interface Facts {
  /** What stands after the word "camera". */
  camera: string;
  /** Whether something of the recording has arrived. */
  arrived: boolean;
  /** Seconds since it was asked for; null for a kept file. */
  seconds: number | null;
  /** Where the playback is being moved to, as a time for people, or null. */
  moving: string | null;
  /** The cursor is where there is no video. */
  away: boolean;
}

export interface StatusText {
  key: Key;
  values: Values;
  tone: "wait" | "warn" | "bad";
}

/** The sentence for a player's phase, or null while the picture moves or was paused. */
export function statusText(phase: Phase, facts: Facts): StatusText | null {
  if (facts.moving !== null) return { key: "film.moving", values: { time: facts.moving }, tone: "wait" };
  if (facts.away) return { key: "film.away", values: {}, tone: "wait" };
  switch (phase.name) {
    case "playing":
    case "paused":
      return null;
    case "waiting":
      if (facts.seconds === null) return { key: "film.opening", values: {}, tone: "wait" };
      if (facts.arrived) return { key: "film.slow", values: {}, tone: "wait" };
      return { key: "film.waiting", values: { seconds: facts.seconds }, tone: "wait" };
    case "ended":
      if (facts.arrived) return { key: "film.over", values: {}, tone: "wait" };
      return { key: "film.nothing", values: { camera: facts.camera }, tone: "warn" };
    case "codec":
      return { key: "live.codec", values: {}, tone: "bad" };
    case "broken":
      return { key: "film.broken", values: {}, tone: "bad" };
    case "refused":
      return { key: "film.lost", values: {}, tone: "bad" };
  }
}
