import { useState } from "preact/hooks";
import { get } from "../../api/call";
import type { MediaPage, Ticket } from "../../api/types";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Dialog } from "../../parts/Dialog";
import { Check } from "../../parts/Field";
import { Skeleton } from "../../parts/Late";
import { Problem, sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { positionNow } from "../../state/fleet";
import { useLoaded } from "../../state/responseCache";
import { addEvidence } from "../../tickets/evidence";
import { MediaTile } from "../library/MediaTile";
import { historyAt } from "../vehicle/acts";
import "../library/library.css";

const DAY_MS = 86_400_000;
/** Files that are offered. */
const OFFERED = 60;
/** Files that one comment adds. */
const MOST = 20;

interface EvidenceDialogProps {
  ticket: Ticket;
  onClose: () => void;
  onDone: () => void;
}

/** Adds pictures, films and the position of the vehicle to a ticket; those of the days around it are offered. */
export function EvidenceDialog({ ticket, onClose, onDone }: EvidenceDialogProps) {
  const { deviceId } = ticket;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [withPosition, setWithPosition] = useState(false);
  const [busy, setBusy] = useState(false);
  const from = new Date(Date.parse(ticket.createdAt) - DAY_MS).toISOString();
  const found = useLoaded(`media ${deviceId}`, (signal) =>
    deviceId
      ? get<MediaPage>("/media", { deviceId, from, limit: OFFERED }, signal)
      : Promise.resolve({ items: [], next: null }),
  );
  const positionId = positionNow(deviceId)?.id ?? 0;
  const items = found.value?.items ?? [];
  const files = items.filter(({ fileName }) => chosen.has(fileName));
  const none = files.length === 0 && !withPosition;

  async function add() {
    if (busy || none) return;
    setBusy(true);
    try {
      await addEvidence(ticket, {
        files: files.map(({ fileName }) => ({ deviceId, fileName })),
        ...(withPosition && { positionId }),
      });
      toast(t("event.added", { number: ticket.number }));
      onDone();
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
      setBusy(false);
    }
  }
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name) && next.size < MOST) next.add(name);
    setChosen(next);
  };
  return (
    <Dialog
      title={t("tickets.addEvidence")}
      onClose={onClose}
      wide
      actions={
        <>
          <button type="button" onClick={onClose}>
            {t("common.cancel")}
          </button>
          <button type="button" class="primary" disabled={busy || none} onClick={() => void add()}>
            {t("tickets.addChosen", { count: files.length + Number(withPosition) })}
          </button>
        </>
      }
    >
      {!deviceId && <p>{t("tickets.evidenceNoVehicle")}</p>}
      {found.problem !== null && <Problem problem={found.problem} onRetry={found.reload} />}
      {found.problem === null && !found.value && <Skeleton label={t("common.loading")} lines={4} />}
      {positionId !== 0 && (
        <Check label={t("tickets.evidencePosition")} checked={withPosition} onChange={setWithPosition} />
      )}
      {deviceId !== 0 && found.value && items.length === 0 && (
        <p class="faint">{t("tickets.evidenceNone")}</p>
      )}
      <ul class="ticket-media">
        {items.map((item) => (
          <li key={item.fileName} class={chosen.has(item.fileName) ? "chosen" : ""}>
            <MediaTile item={item} onOpen={() => toggle(item.fileName)} />
            {chosen.has(item.fileName) && <span class="ticket-media-mark">✓</span>}
          </li>
        ))}
      </ul>
      {deviceId !== 0 && (
        <p>
          <Link to={historyAt(deviceId, Date.parse(ticket.createdAt))}>{t("tickets.evidenceFetch")}</Link>
        </p>
      )}
    </Dialog>
  );
}
