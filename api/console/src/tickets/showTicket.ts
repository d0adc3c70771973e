import type { Ticket } from "../api/types";
import { t } from "../i18n/translate";
import type { ToastAct } from "../parts/Toast";
import { go } from "../router";

/** An act of a notice that leads to a ticket. */
export function showTicket({ id }: Pick<Ticket, "id">): ToastAct {
  return { label: t("frame.show"), run: () => go(`/tickets/${id}`) };
}
