import { duration } from "../../format/times";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import type { Span } from "../../time/spans";
import { cameraNumber } from "../cameraNames";
import { estimate } from "./estimate";
import { askRecordings, recordingsOf } from "./recordings";

/** What the vehicle says it has of a day; asking wakes it, so a person does. */
export function AskRow({
  deviceId,
  day,
  camera,
  online,
}: {
  deviceId: number;
  day: Span;
  camera: number;
  online: boolean;
}) {
  const listed = recordingsOf(deviceId, day).value;
  const asking = listed.phase === "asking";
  const { covered } = estimate(listed.items, camera, day, true);
  const text = () => {
    switch (listed.phase) {
      case "unknown":
        return listed.items.length > 0 ? t("film.said") : t("film.notAsked");
      case "asking":
        return t("film.askingList", {
          seconds: Math.max(0, Math.floor((now.value - listed.askedAt) / 1000)),
        });
      case "known":
        return covered
          ? t("film.has", { camera: cameraNumber(deviceId, camera), length: duration(covered, style.value) })
          : t("film.hasNothing", { camera: cameraNumber(deviceId, camera) });
      case "silent":
        return t("film.silent");
      case "refused":
        return sentenceOf(listed.problem);
    }
  };
  return (
    <p class="film-ask" role="status">
      <span>{text()}</span>
      {online && (
        <button
          type="button"
          class="link"
          disabled={asking}
          onClick={() => void askRecordings(deviceId, day)}
        >
          {t(listed.phase === "unknown" ? "film.ask" : "film.askAgain")}
        </button>
      )}
    </p>
  );
}
