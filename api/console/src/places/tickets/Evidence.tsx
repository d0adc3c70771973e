import { useState } from "preact/hooks";
import type { Ticket, TicketEvent } from "../../api/types";
import { dateTime } from "../../format/times";
import { bytes } from "../../format/units";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { style } from "../../state/session";
import { historyAt } from "../vehicle/acts";
import { authorOf } from "./Conversation";
import type { Desk } from "./company";

interface EvidenceProps {
  desk: Desk;
  ticket: Ticket;
  entries: readonly TicketEvent[];
}

/** The files and positions of a ticket; films are played where they stand. */
export function Evidence({ desk, ticket, entries }: EvidenceProps) {
  const shown = evidenceOf(entries);
  if (shown.length === 0 && ticket.eventId === 0) return <p class="faint">{t("tickets.noEvidence")}</p>;
  return (
    <ul class="ticket-evidence" aria-label={t("tickets.evidence")}>
      {shown.map((entry) => (
        <li key={entry.id}>
          {typeof entry.attributes.fileName === "string" ? (
            <File desk={desk} entry={entry} />
          ) : (
            <Position entry={entry} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** What a ticket has as evidence; of a capture that was recording what it became. Pure. */
export function evidenceOf(entries: readonly TicketEvent[]): readonly TicketEvent[] {
  const found = new Map<string, TicketEvent>();
  for (const entry of entries) {
    if (entry.type !== "evidence" || "commandType" in entry.attributes) continue;
    const { captureId, fileName } = entry.attributes;
    if (typeof fileName !== "string" && !("positionSnapshot" in entry.attributes)) continue;
    const key = String(captureId ?? fileName ?? entry.id);
    found.delete(key);
    found.set(key, entry);
  }
  return [...found.values()];
}

function File({ desk, entry }: { desk: Desk; entry: TicketEvent }) {
  const [broken, setBroken] = useState(false);
  const { fileName, url, size, sha256, status, reason, camera, channel } = entry.attributes;
  const name = String(fileName);
  const address = typeof url === "string" ? url : null;
  const kind = kindOf(name);
  const by = t("tickets.addedBy", {
    name: authorOf(desk, entry),
    at: dateTime(Date.parse(entry.eventTime), style.value),
  });
  const seen =
    typeof camera === "string"
      ? camera
      : typeof channel === "number"
        ? t("tickets.camera", { number: channel })
        : "";
  return (
    <figure class="ticket-file">
      {address && kind === "image" && !broken && (
        <a href={address} target="_blank" rel="noreferrer">
          <img src={address} alt={name} loading="lazy" onError={() => setBroken(true)} />
        </a>
      )}
      {address && kind === "video" && !broken && (
        // biome-ignore lint/a11y/useMediaCaption: terminals record no captions
        <video src={address} controls preload="metadata" aria-label={name} onError={() => setBroken(true)} />
      )}
      {address && kind === "audio" && (
        // biome-ignore lint/a11y/useMediaCaption: terminals record no captions
        <audio src={address} controls preload="none" aria-label={name} />
      )}
      {broken && <p role="status">{t("library.notPlayable")}</p>}
      <figcaption>
        <span class="ticket-file-name">{name}</span>
        <small>
          {[seen, typeof size === "number" ? bytes(size, style.value) : "", by].filter(Boolean).join(" · ")}
        </small>
        {status === "RECORDING" && <small>{t("event.evidenceRecording")}</small>}
        {typeof reason === "string" && <small class="bad">{reason}</small>}
        {typeof sha256 === "string" && <code title={t("event.hash")}>{sha256}</code>}
        {address && (
          <a href={address} download={name}>
            <Icon name="download" size={16} />
            {t("event.download")}
          </a>
        )}
      </figcaption>
    </figure>
  );
}

function Position({ entry }: { entry: TicketEvent }) {
  const snapshot = entry.attributes.positionSnapshot as { time?: string; address?: string } | undefined;
  const at = Date.parse(snapshot?.time ?? entry.eventTime);
  const deviceId = Number(entry.attributes.deviceId) || 0;
  const text = t("event.evidencePosition", { time: dateTime(at, style.value) });
  return (
    <p class="ticket-position">
      <Icon name="map" size={16} />
      {deviceId ? <Link to={historyAt(deviceId, at)}>{text}</Link> : text}
      {snapshot?.address && <small>{snapshot.address}</small>}
    </p>
  );
}

function kindOf(name: string): "image" | "video" | "audio" | "other" {
  const end = name.split(".").at(-1)?.toLowerCase() ?? "";
  if (["jpg", "jpeg", "png", "gif", "webp"].includes(end)) return "image";
  if (["mp4", "webm", "mov"].includes(end)) return "video";
  return ["mp3", "wav", "ogg", "m4a", "aac"].includes(end) ? "audio" : "other";
}
