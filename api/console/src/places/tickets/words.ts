/** Names of what a ticket has. */

import type { Ticket } from "../../api/types";
import { hasText, t } from "../../i18n/translate";
import { nameOf } from "../events/EventRow";
import { type Desk, personName } from "./company";

/** Whether a ticket in a status of this kind is not worked on any more. */
export function isDone(kind: string): boolean {
  return kind === "resolved" || kind === "closed" || kind === "cancelled";
}

/** What a field of a ticket is called. */
export function fieldName(name: string): string {
  const key = `tickets.field.${name.replace(/Id$/, "")}`;
  return hasText(key) ? t(key) : name;
}

/** A value of a field as people read it. */
export function valueName(desk: Desk, name: string, value: unknown): string {
  const id = Number(value);
  const named = (rows: readonly { id: number; name: string | null }[]) =>
    id === 0 ? t("common.none") : (rows.find((each) => each.id === id)?.name ?? `#${id}`);
  switch (name as keyof Ticket) {
    case "statusId":
      return named(desk.statuses);
    case "priorityId":
      return named(desk.priorities);
    case "categoryId":
      return named(desk.categories);
    case "teamId":
      return named(desk.teams);
    case "assigneeId":
      return id === 0 ? t("tickets.nobody") : personName(desk, id);
    case "deviceId":
      return id === 0 ? t("common.none") : nameOf(id);
    default:
      return String(value ?? "");
  }
}
