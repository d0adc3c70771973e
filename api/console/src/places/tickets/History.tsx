import type { TicketEvent } from "../../api/types";
import { dateTime, shortTime, utc } from "../../format/times";
import { hasText, t } from "../../i18n/translate";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { authorOf } from "./Conversation";
import type { Desk } from "./company";
import { fieldName, valueName } from "./words";

/** Entries that stand elsewhere on the page. */
const ELSEWHERE: ReadonlySet<string> = new Set(["comment"]);

/** What has changed, the latest first. */
export function History({ desk, entries }: { desk: Desk; entries: readonly TicketEvent[] }) {
  const shown = entries.filter(({ type }) => !ELSEWHERE.has(type)).reverse();
  return (
    <details class="ticket-part ticket-history">
      <summary>{t("tickets.history", { count: shown.length })}</summary>
      <ol>
        {shown.map((entry) => {
          const at = Date.parse(entry.eventTime);
          return (
            <li key={entry.id}>
              <span>{entryText(desk, entry)}</span>
              <small>
                {authorOf(desk, entry)} ·{" "}
                <time dateTime={entry.eventTime} title={`${dateTime(at, style.value)} · ${utc(at)}`}>
                  {shortTime(at, now.value, style.value)}
                </time>
              </small>
            </li>
          );
        })}
      </ol>
    </details>
  );
}

/** An entry of the history as a sentence. */
export function entryText(desk: Desk, entry: TicketEvent): string {
  const { type, field, attributes } = entry;
  const name = (key: string) => (typeof attributes[key] === "string" ? attributes[key] : "");
  const value = (which: "from" | "to") =>
    name(which === "from" ? "fromName" : "toName") || (field ? valueName(desk, field, entry[which]) : "");
  switch (type) {
    case "updated":
    case "assigned":
      return t("tickets.entry.changed", {
        field: fieldName(field ?? ""),
        before: value("from") || t("common.none"),
        after: value("to") || t("common.none"),
      });
    case "statusChanged":
    case "reopened":
      return t("tickets.entry.status", { before: value("from"), after: value("to") });
    case "slaBreached":
    case "slaWarning":
      return t(`tickets.entry.${type}`, { target: targetName(attributes.target) });
    case "evidence":
      return t("tickets.entry.evidence", {
        what: name("fileName") || name("description") || name("commandType") || t("tickets.entry.position"),
      });
    default: {
      const key = `tickets.entry.${type}`;
      return hasText(key) ? t(key) : type;
    }
  }
}

function targetName(target: unknown): string {
  const key = `tickets.target.${String(target)}`;
  return hasText(key) ? t(key) : String(target ?? "");
}
