import type { TicketEvent } from "../../api/types";
import { typeName } from "../../commands/names";
import { dateTime } from "../../format/times";
import { hasText, t } from "../../i18n/translate";
import { style } from "../../state/session";
import { authorOf } from "./Conversation";
import type { Desk } from "./company";

/** The commands that were sent for a ticket, and what became of each. */
export function CommandsSent({ desk, entries }: { desk: Desk; entries: readonly TicketEvent[] }) {
  const commands = entries.filter(
    ({ type, attributes }) => type === "evidence" && "commandType" in attributes,
  );
  if (commands.length === 0) return <p class="faint">{t("tickets.noCommands")}</p>;
  return (
    <ul class="ticket-commands" aria-label={t("tickets.commands")}>
      {commands.map((entry) => {
        const { commandType, description, status, reason, result } = entry.attributes;
        const name = typeof description === "string" ? description : typeName(String(commandType));
        return (
          <li key={entry.id}>
            <strong>{name}</strong> {statusName(String(status ?? ""))}
            {typeof result === "string" && <code>{result}</code>}
            {typeof reason === "string" && <small class="bad">{reason}</small>}
            <small>
              {authorOf(desk, entry)} · {dateTime(Date.parse(entry.eventTime), style.value)}
            </small>
          </li>
        );
      })}
    </ul>
  );
}

function statusName(status: string): string {
  const key = `tickets.command.${status}`;
  return hasText(key) ? t(key) : status;
}
