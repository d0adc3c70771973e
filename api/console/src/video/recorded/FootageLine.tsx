import type { Footage } from "../../api/types";
import { clockSeconds, shortTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { device } from "../../state/fleet";
import { session, style } from "../../state/session";
import { AttachTicket } from "../../tickets/AttachTicket";
import { now } from "../../time/clock";
import { cameraLabel } from "../cameraNames";
import { downloadName } from "../downloadName";
import { clockOf } from "./clock";
import { cancelFootage, isOpen } from "./footage";

/** A span that the server fetches by itself, and what became of it. */
export function FootageLine({ request }: { request: Footage }) {
  const clock = clockOf(device(request.deviceId).value, request.channel);
  const time = (text: string) => clockSeconds(Date.parse(text) + clock, style.value);
  const mine = request.userId === session.value?.id || session.value?.administrator;
  const until = shortTime(Date.parse(request.until), now.value, style.value);
  return (
    <div class={`capture ${request.status.toLowerCase()}`}>
      <p class="capture-name">
        <span>
          {cameraLabel(request.deviceId, request.channel)} · {time(request.startTime)} –{" "}
          {time(request.endTime)}
        </span>
        {isOpen(request) && mine && (
          <button
            type="button"
            class="link"
            onClick={() => void cancelFootage(request).catch((problem) => toast(sentenceOf(problem), "bad"))}
          >
            {t("footage.cancel")}
          </button>
        )}
      </p>
      <p class={request.status === "FAILED" || request.status === "EXPIRED" ? "capture-failed" : "faint"}>
        {request.status === "WAITING" && t("footage.waiting", { until })}
        {request.status === "FETCHING" && t("footage.fetching")}
        {request.status === "COMPLETE" && t("footage.complete")}
        {request.status === "EXPIRED" && t("footage.expired")}
        {request.status === "FAILED" && t("capture.failed", { reason: request.reason ?? "" })}
      </p>
      {request.status === "COMPLETE" && request.url && (
        <p class="button-row">
          <a
            class="button"
            href={request.url}
            download={downloadName(request, Date.parse(request.startTime) + clock)}
          >
            <Icon name="download" size={18} />
            {t("capture.download")}
          </a>
          {request.fileName && (
            <AttachTicket
              deviceId={request.deviceId}
              evidence={{ files: [{ deviceId: request.deviceId, fileName: request.fileName }] }}
            />
          )}
        </p>
      )}
    </div>
  );
}
