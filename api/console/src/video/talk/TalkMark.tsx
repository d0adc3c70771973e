import { useEffect } from "preact/hooks";
import { t } from "../../i18n/translate";
import type { TileId } from "../tiles";
import { endTalk, level, type Talk, talk } from "./talk";

/** The talk with the driver of this camera's vehicle; null if there is none. Leaving the picture ends it. */
export function useTalk({ deviceId, camera }: TileId): Talk | null {
  const is = talk.value;
  const here = is?.deviceId === deviceId && is.camera === camera ? is : null;
  const talks = here !== null;
  useEffect(() => {
    if (!talks) return;
    return () => {
      const left = talk.peek();
      // It may be one with another vehicle by now.
      if (left?.deviceId === deviceId && left.camera === camera) endTalk();
    };
  }, [talks, deviceId, camera]);
  return here;
}

/** Over a picture to whose vehicle somebody talks: what to do, how loud both are, and how to end it. */
export function TalkMark({ of }: { of: Talk }) {
  return (
    <div class={of.problem ? "tile-talk bad" : "tile-talk"}>
      <p role={of.problem ? "alert" : "status"}>{wordsOfTalk(of)}</p>
      {of.phase === "open" && <Levels />}
      <button type="button" onClick={endTalk}>
        {t(of.phase === "ended" ? "common.close" : "talk.end")}
      </button>
    </div>
  );
}

function wordsOfTalk({ phase, speaking, problem }: Talk): string {
  if (phase === "ended") return problem;
  if (phase === "connecting") return t("talk.connecting");
  return t(speaking ? "talk.speaking" : "talk.listening");
}

function Levels() {
  const { said, heard } = level.value;
  return (
    <span class="talk-levels">
      <meter min={0} max={1} value={said} aria-label={t("talk.said")} title={t("talk.said")} />
      <meter min={0} max={1} value={heard} aria-label={t("talk.heard")} title={t("talk.heard")} />
    </span>
  );
}
