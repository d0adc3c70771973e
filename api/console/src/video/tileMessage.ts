/** What a tile says of its state: one sentence, how serious it is, and what can be done. */

import type { Style } from "../format/style";
import { clockTime } from "../format/times";
import { t } from "../i18n/translate";
import { sentence } from "../parts/Problem";
import { DROPPED_SHARE, type Figures, isWeak } from "./health";
import type { State } from "./states";

/** The server waits this long for the first segment. */
export const START_SECONDS = 10;

export interface Facts {
  /** What stands after the word "camera". */
  camera: string;
  /** When the vehicle was last heard of, in milliseconds since 1970. */
  lastUpdate: number | null;
  figures: Figures;
  /** Seconds that were left out to catch up, shown for a moment; 0 if none. */
  skipped: number;
  /** Pictures that play on the page. */
  playing: number;
}

export interface TileMessage {
  text: string;
  tone: "wait" | "warn" | "bad";
  /** 0 to 1 while a known time is waited for. */
  progress?: number;
  act?: "retry" | "stills" | "keep";
}

/** The sentence of a state; null where the picture plays and all is well. `now` is in milliseconds. */
export function tileMessage(
  state: State,
  facts: Facts,
  now: number,
  style: Pick<Style, "language" | "zone">,
): TileMessage | null {
  const { phase } = state;
  const left = (at: number) => Math.max(0, Math.ceil((at - now) / 1000));
  const offline = () => {
    if (facts.lastUpdate === null) return t("live.offline");
    return t("live.offlineSince", { time: clockTime(facts.lastUpdate, style) });
  };
  switch (phase.name) {
    case "queued":
      return { text: t("live.next"), tone: "wait" };
    case "asking":
    case "starting": {
      const seconds = Math.max(0, Math.floor((now - phase.since) / 1000));
      if (phase.name === "starting") return { text: t("live.starting"), tone: "wait" };
      return {
        text: t("live.asking", { seconds }),
        tone: "wait",
        progress: Math.min(1, seconds / START_SECONDS),
      };
    }
    case "empty":
      if (phase.retryAt === null) return { text: `${offline()} ${t("live.startsAgain")}`, tone: "warn" };
      return {
        text: `${t("live.noPicture", { camera: facts.camera })} ${t("live.askedAgain", { count: left(phase.retryAt) })}`,
        tone: "warn",
        act: "retry",
      };
    case "refused": {
      const said = phase.status === 404 ? t("live.notFound") : sentence({ ...phase, retryAfter: null });
      const again = phase.retryAt === null ? "" : ` ${t("live.askedAgain", { count: left(phase.retryAt) })}`;
      return { text: said + again, tone: "bad", act: "retry" };
    }
    case "codec":
      return { text: t("live.codec"), tone: "bad", act: "keep" };
    case "broken":
      return {
        text: `${t("live.broken")} ${t("live.askedAgain", { count: left(phase.retryAt) })}`,
        tone: "bad",
        act: "retry",
      };
    case "playing":
      return ofPicture(state, facts, offline);
  }
}

function ofPicture(state: State, facts: Facts, offline: () => string): TileMessage | null {
  const { figures } = facts;
  if (facts.skipped > 0) return { text: t("live.skipped", { count: facts.skipped }), tone: "warn" };
  if (!state.online && figures.short > 0) return { text: offline(), tone: "warn" };
  if (figures.dropped > DROPPED_SHARE) {
    return { text: t("live.slowComputer", { count: facts.playing }), tone: "warn", act: "stills" };
  }
  if (isWeak(figures)) {
    const percent = figures.rate === null ? null : Math.round(Math.min(1, figures.rate) * 100);
    return { text: percent === null ? t("live.weak") : t("live.weakRate", { percent }), tone: "warn" };
  }
  return null;
}
