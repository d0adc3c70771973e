import type { Capture } from "../../api/types";
import { clockSeconds, clockTime } from "../../format/times";
import { bytes } from "../../format/units";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { device } from "../../state/fleet";
import { style } from "../../state/session";
import { AttachTicket } from "../../tickets/AttachTicket";
import { now } from "../../time/clock";
import { cameraLabel } from "../cameraNames";
import { downloadName } from "../downloadName";
import { begunOf, progressOf } from "./captures";
import { clockOf, spanShown } from "./clock";
import { endCapture } from "./fetch";
import { playbacksOf } from "./playbacks";
import { endOf, rateOf, shareOf, standsStill } from "./progress";
import { heldSpan } from "./sources";

/** How a capture gets on, and its file once it is complete. */
export function CaptureLine({ capture }: { capture: Capture }) {
  const { status } = capture;
  const clock = clockOf(device(capture.deviceId).value, capture.channel);
  const of = heldSpan(capture, clock) ?? begunOf(capture.id);
  const held = of && spanShown(of, clock);
  const span = held
    ? `${clockSeconds(held.from, style.value)} – ${clockSeconds(held.to, style.value)}`
    : clockTime(Date.parse(capture.startedAt), style.value);
  return (
    <div class={`capture ${status.toLowerCase()}`}>
      <p class="capture-name">
        <span>
          {cameraLabel(capture.deviceId, capture.channel)} · {span}
        </span>
        <span class="faint">{bytes(capture.size, style.value)}</span>
      </p>
      {status === "RECORDING" && <Progress capture={capture} />}
      {status === "FAILED" && (
        <p class="capture-failed" role="status">
          {t("capture.failed", { reason: capture.reason ?? "" })}
        </p>
      )}
      {status === "COMPLETE" && capture.url && (
        <p class="button-row">
          <a
            class="button"
            href={capture.url}
            download={downloadName(capture, held?.from ?? Date.parse(capture.startedAt))}
          >
            <Icon name="download" size={18} />
            {t("capture.download")}
          </a>
          <AttachTicket
            deviceId={capture.deviceId}
            evidence={{ files: [{ deviceId: capture.deviceId, fileName: capture.fileName }] }}
          />
        </p>
      )}
      {status === "COMPLETE" && !capture.url && <p class="faint">{t("capture.removed")}</p>}
    </div>
  );
}

function Progress({ capture }: { capture: Capture }) {
  const begun = begunOf(capture.id) ?? null;
  const progress = progressOf(capture.id);
  const playback = playbacksOf(capture.deviceId).value.find((each) => each.channel === capture.channel);
  const told = capture.live ? null : (capture.endTime ?? playback?.arrivedTo);
  const share = shareOf(begun, told ? Date.parse(told) : null, capture.size, begun?.expected ?? null);
  const rate = rateOf(progress);
  const end = endOf(share, Date.parse(capture.startedAt), now.value);
  const text = () => {
    if (standsStill(progress, now.value)) return t(capture.size > 0 ? "capture.stopped" : "capture.nothing");
    if (capture.size === 0) return t("capture.waiting");
    const rated = rate ? t("capture.rate", { rate: bytes(rate, style.value) }) : t("capture.arriving");
    return end === null ? rated : `${rated} · ${t("capture.ends", { time: clockTime(end, style.value) })}`;
  };
  return (
    <div class="capture-progress">
      <progress max={1} value={share ?? undefined} aria-label={t("capture.progress")} />
      <span role="status" aria-live="off">
        {text()}
      </span>
      <button
        type="button"
        class="link"
        onClick={() => void endCapture(capture.id).catch((problem) => toast(sentenceOf(problem), "bad"))}
      >
        {t("capture.end")}
      </button>
    </div>
  );
}
