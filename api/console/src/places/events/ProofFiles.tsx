import { useState } from "preact/hooks";
import { address } from "../../api/call";
import { clockSeconds, dateTime, utc } from "../../format/times";
import { bytes } from "../../format/units";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { style } from "../../state/session";
import { cameraLabel } from "../../video/cameraNames";
import { downloadName } from "../../video/downloadName";
import { type Film, type VehicleFile, wrongTime } from "./proof";
import type { Kept, Tickets } from "./useTickets";

/** Where a file of a vehicle is. */
export function fileAddress(uniqueId: string, name: string): string {
  return address(`/media/${encodeURIComponent(uniqueId)}/${encodeURIComponent(name)}`);
}

/** Seconds by which a film without a gap may be shorter than its span. */
const WHOLE_SECONDS = 2;

interface FileProps {
  deviceId: number;
  uniqueId: string;
  tickets: Tickets;
}

/** A picture, film, sound or other file that the vehicle sent; `eventAt` is when the event was. */
export function SentFile({ of, eventAt, ...rest }: FileProps & { of: VehicleFile; eventAt: number }) {
  const [broken, setBroken] = useState(false);
  const url = fileAddress(rest.uniqueId, of.name);
  const label = t(`event.sent.${of.kind}`, { time: dateTime(of.at, style.value) });
  const wrong = wrongTime(eventAt, of.cameraTime);
  return (
    <figure class="proof-file">
      {of.kind === "image" && <img src={url} alt={label} loading="lazy" />}
      {of.kind === "video" && !broken && (
        // biome-ignore lint/a11y/useMediaCaption: terminals record no captions
        <video
          src={of.playUrl ?? url}
          poster={of.pictureUrl ?? undefined}
          controls
          preload="none"
          aria-label={label}
          onError={() => setBroken(true)}
        />
      )}
      {broken && (
        <p class="proof-broken" role="status">
          {t("library.notPlayable")}
        </p>
      )}
      {/* biome-ignore lint/a11y/useMediaCaption: terminals record no captions */}
      {of.kind === "audio" && <audio src={url} controls preload="none" aria-label={label} />}
      <figcaption>
        <strong>{label}</strong>
        {of.channel !== null && <span>{cameraLabel(rest.deviceId, of.channel)}</span>}
        {wrong !== null && (
          <span class="proof-wrong-time">
            <Icon name="warning" size={16} />
            {t("event.wrongTime", {
              shown: utc(wrong).replace(/ UTC$/, ""),
              time: dateTime(eventAt, style.value),
            })}
          </span>
        )}
        <FileFacts
          {...rest}
          name={of.name}
          url={url}
          sent={of.size}
          savedAs={downloadName(
            { deviceId: rest.deviceId, channel: of.channel ?? 0, fileName: of.name },
            of.at,
          )}
        />
      </figcaption>
    </figure>
  );
}

/** A film that is kept. */
export function KeptFilm({ of, onAt, ...rest }: FileProps & { of: Film; onAt: (at: number) => void }) {
  const { fileName } = of;
  if (!fileName) return null;
  const url = of.url ?? fileAddress(rest.uniqueId, fileName);
  const label = filmName(rest.deviceId, of);
  return (
    <figure class="proof-file">
      {/* biome-ignore lint/a11y/useMediaCaption: terminals record no captions */}
      <video
        src={url}
        controls
        preload="metadata"
        aria-label={label}
        onTimeUpdate={({ currentTarget: { currentTime, duration } }) => {
          // One that holds a seek does not say which instant it shows.
          const isWhole = Math.abs(duration - (of.span.to - of.span.from) / 1000) <= WHOLE_SECONDS;
          if (isWhole && currentTime > 0) onAt(of.span.from + currentTime * 1000);
        }}
      />
      <figcaption>
        <strong>{label}</strong>
        <FileFacts
          {...rest}
          name={fileName}
          url={url}
          sent={of.size}
          savedAs={downloadName({ ...of, deviceId: rest.deviceId }, of.span.from)}
        />
      </figcaption>
    </figure>
  );
}

/** `Camera 1, 14:31:45 to 14:32:45`. */
export function filmName(deviceId: number, { channel, span: { from, to } }: Film): string {
  const [begin, end] = [from, to].map((at) => clockSeconds(at, style.value));
  return t("event.film", { camera: cameraLabel(deviceId, channel), from: begin ?? "", to: end ?? "" });
}

interface FactsProps extends FileProps {
  /** What the server calls it. */
  name: string;
  url: string;
  /** Bytes, as far as they are known. */
  sent: number | null;
  /** What a browser calls it. */
  savedAs: string;
}

/** Name, size and checksum of a file, and which ticket has it. */
function FileFacts({ deviceId, name, url, sent, savedAs, tickets }: FactsProps) {
  const holding = tickets.kept.find((each) => entryOf(each, name));
  const entry = holding && entryOf(holding, name);
  const [known, setKnown] = useState<Checked | null>(null);
  const [busy, setBusy] = useState(false);
  const size = known?.size ?? sent ?? numberOf(entry?.attributes.size);
  const hash = known?.sha256 ?? textOf(entry?.attributes.sha256);
  async function check() {
    setBusy(true);
    try {
      setKnown(await checksum(url));
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    }
    setBusy(false);
  }
  const other = tickets.kept.find((each) => !entryOf(each, name));
  return (
    <>
      {size !== null && <span class="faint">{bytes(size, style.value)}</span>}
      {holding && <span class="badge">{t("event.inTicket", { number: holding.ticket.number })}</span>}
      <span class="button-row">
        <a class="button" href={url} download={savedAs}>
          {t("event.download")}
        </a>
        {!holding && other && (
          <button
            type="button"
            class="quiet"
            disabled={tickets.busy}
            onClick={() => tickets.add(other.ticket, [{ deviceId, fileName: name }])}
          >
            {t("event.addTo", { number: other.ticket.number })}
          </button>
        )}
      </span>
      <details class="proof-details">
        <summary>{t("event.fileDetails")}</summary>
        <span class="proof-file-name">{name}</span>
        {hash !== null && <code title={t("event.hash")}>{hash}</code>}
        {hash === null && "subtle" in crypto && (
          <button type="button" class="quiet" disabled={busy} onClick={() => void check()}>
            {t(busy ? "event.hashing" : "event.makeHash")}
          </button>
        )}
      </details>
    </>
  );
}

interface Checked {
  size: number;
  sha256: string;
}

/** Size and SHA-256 of a file. The whole file is read. */
async function checksum(url: string): Promise<Checked> {
  const answer = await fetch(url, { credentials: "same-origin" });
  if (!answer.ok) throw new Error(`${answer.status}`);
  const content = await answer.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { size: content.byteLength, sha256 };
}

function entryOf({ entries }: Kept, name: string) {
  const found = entries.filter(({ attributes }) => attributes.fileName === name);
  return found.find(({ attributes }) => attributes.sha256) ?? found[0];
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
