import { useState } from "preact/hooks";
import { put, remove } from "../../api/call";
import type { Media } from "../../api/types";
import { dateTime, duration } from "../../format/times";
import { bytes } from "../../format/units";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Dialog } from "../../parts/Dialog";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { may, style } from "../../state/session";
import { AttachTicket } from "../../tickets/AttachTicket";
import { cameraLabel } from "../../video/cameraNames";
import { downloadName } from "../../video/downloadName";
import { historyAt } from "../vehicle/acts";
import { lengthOf } from "./library";
import { vehicleOf, whatOf } from "./words";

interface MediaDialogProps {
  item: Media;
  onClose: () => void;
  /** Called with the entry as it is now. */
  onChanged: (item: Media) => void;
  onDeleted: (item: Media) => void;
}

/** An entry that is played or shown, with what can be done with it. */
export function MediaDialog({ item, onClose, onChanged, onDeleted }: MediaDialogProps) {
  const [busy, setBusy] = useState(false);
  const [asking, setAsking] = useState(false);
  const at = Date.parse(item.startTime ?? item.time);
  const length = lengthOf(item);
  const path = item.url.slice("/api".length);
  async function attempt(act: () => Promise<void>): Promise<void> {
    setBusy(true);
    try {
      await act();
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
    setBusy(false);
  }
  const keep = () =>
    attempt(async () => {
      onChanged(await put<Media>(path, { kept: !item.kept }));
      toast(t(item.kept ? "library.released" : "library.isKept"));
    });
  const erase = () =>
    attempt(async () => {
      await remove(path);
      toast(t("library.deleted"));
      onDeleted(item);
    });
  const stays = item.kept || item.inTicket;
  return (
    <Dialog title={`${vehicleOf(item)} · ${whatOf(item)}`} onClose={onClose} wide>
      <div class="media-stage">
        <Stage item={item} />
      </div>
      <p class="media-facts">
        <span>
          {item.channel !== null && `${cameraLabel(item.deviceId, item.channel)} · `}
          <time dateTime={item.time}>{dateTime(at, style.value)}</time>
        </span>
        {item.playUrl && length !== null && <span>{duration(length, style.value)}</span>}
        <span class="faint">{bytes(item.size, style.value)}</span>
        <Link to={historyAt(item.deviceId, at)}>{t("capture.openHistory")}</Link>
        {item.eventId !== null && (
          <Link to={`/events/${item.alarm?.id ?? item.eventId}`}>{t("library.proof")}</Link>
        )}
      </p>
      {asking ? (
        <p class="media-question" role="alert">
          <span>{t("library.deleteQuestion")}</span>
          <button type="button" class="danger" disabled={busy} onClick={() => void erase()}>
            {t("library.deleteIt")}
          </button>
          <button type="button" disabled={busy} onClick={() => setAsking(false)}>
            {t("common.cancel")}
          </button>
        </p>
      ) : (
        <p class="button-row">
          <a
            class="button"
            href={item.url}
            download={downloadName({ ...item, channel: item.channel ?? 0 }, at)}
          >
            <Icon name="download" size={18} />
            {t("capture.download")}
          </a>
          {may("edit") && (
            <button type="button" aria-pressed={item.kept} disabled={busy} onClick={() => void keep()}>
              <Icon name={item.kept ? "check" : "pin"} size={18} />
              {t(item.kept ? "library.release" : "library.keep")}
            </button>
          )}
          <AttachTicket
            deviceId={item.deviceId}
            evidence={{ files: [{ deviceId: item.deviceId, fileName: item.fileName }] }}
            onAdded={() => onChanged({ ...item, inTicket: true })}
          />
          {may("editDevices") && (
            <button
              type="button"
              class="quiet"
              disabled={busy || stays}
              title={stays ? t("library.stays") : undefined}
              onClick={() => setAsking(true)}
            >
              <Icon name="trash" size={18} />
              {t("library.delete")}
            </button>
          )}
        </p>
      )}
    </Dialog>
  );
}

function Stage({ item }: { item: Media }) {
  const [broken, setBroken] = useState(false);
  const label = whatOf(item);
  if (broken) return <p role="status">{t("library.notPlayable")}</p>;
  const failed = () => setBroken(true);
  if (item.playUrl) {
    return (
      // biome-ignore lint/a11y/useMediaCaption: cameras record no captions
      <video
        src={item.playUrl}
        poster={item.pictureUrl ?? undefined}
        controls
        autoPlay
        playsInline
        preload="metadata"
        aria-label={label}
        onError={failed}
      />
    );
  }
  if (item.kind === "photo" || item.kind === "still")
    return <img src={item.url} alt={label} onError={failed} />;
  if (item.kind === "sound") {
    // biome-ignore lint/a11y/useMediaCaption: terminals record no captions
    return <audio src={item.url} controls preload="metadata" aria-label={label} onError={failed} />;
  }
  return <p>{t("library.fileOnly")}</p>;
}
