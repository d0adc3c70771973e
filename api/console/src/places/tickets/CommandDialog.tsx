import type { Ticket } from "../../api/types";
import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { useLoaded } from "../../state/responseCache";
import { nameOf } from "../events/EventRow";
import { readOffers, Sending } from "../vehicle/commands/Commands";

/** Sends commands to the vehicle of a ticket; what becomes of them is in its history. */
export function CommandDialog({ ticket, onClose }: { ticket: Ticket; onClose: () => void }) {
  const { deviceId } = ticket;
  const offers = useLoaded(`commands ${deviceId}`, (signal) => readOffers(deviceId, signal));
  const name = nameOf(deviceId);
  return (
    <Dialog title={t("tickets.commandFor", { number: ticket.number, name })} onClose={onClose} wide>
      {offers.problem !== null && <Problem problem={offers.problem} onRetry={offers.reload} />}
      {offers.problem === null && !offers.value && <Skeleton label={t("common.loading")} lines={6} />}
      {offers.value && (
        <Sending id={deviceId} name={name} offers={offers.value} ticketId={ticket.id} onSent={onClose} />
      )}
    </Dialog>
  );
}
