import type { Capture } from "../api/types";
import { t } from "../i18n/translate";
import { Link } from "../Link";
import { now } from "../time/clock";

interface MarkProps {
  of: Capture;
  busy: boolean;
  onEnd: () => void;
}

/** Over a picture that is being recorded: for how long, where it is kept, and how to end it. */
export function RecordingMark({ of, busy, onEnd }: MarkProps) {
  const seconds = Math.max(0, Math.floor((now.value - Date.parse(of.startedAt)) / 1000));
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  return (
    <div class="tile-recording">
      <span class="recording-dot" aria-hidden="true" />
      <span role="status">{t("live.recording")}</span>
      <time>{time}</time>
      <Link to={`/library?deviceId=${of.deviceId}`}>{t("live.library")}</Link>
      <button type="button" disabled={busy} onClick={onEnd}>
        {t("live.recordEnd")}
      </button>
    </div>
  );
}
