import { useComputed } from "@preact/signals";
import type { ServiceLevelView, Ticket } from "../../api/types";
import { dateTime, utc } from "../../format/times";
import { t } from "../../i18n/translate";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { clockText, type TargetName, urgentTarget } from "./clocks";
import { useServiceLevels } from "./serviceLevels";

/** The clocks of a ticket in a row, the most urgent first; drawn anew only when the words change. */
export function Clock({ ticket }: { ticket: Pick<Ticket, "id" | "version"> }) {
  const view = useServiceLevels(ticket);
  const shown = useComputed(() => {
    const known = view.value;
    return known ? JSON.stringify(linesOf(known, now.value)) : "[]";
  });
  const lines = JSON.parse(shown.value) as Line[];
  return (
    <>
      {lines.map(({ name, text, tone, title }, index) => (
        <span key={name} class={`ticket-clock ${tone}${index > 0 ? " second" : ""}`} title={title}>
          {text}
        </span>
      ))}
    </>
  );
}

interface Line {
  name: TargetName;
  text: string;
  tone: string;
  title: string;
}

/** What is late or runs; the other target only while it can still be missed. */
function linesOf(view: ServiceLevelView, at: number): Line[] {
  const first = urgentTarget(view);
  const second = first === "resolution" ? "firstResponse" : "resolution";
  const isOpen = ["running", "waiting", "overdue"].includes(view[second].state);
  return [first, ...(isOpen ? [second as TargetName] : [])].flatMap((name) => {
    const text = clockText(view, view[name], at, style.value);
    if (!text) return [];
    const { due } = view[name];
    const label = t(`tickets.target.${name}`);
    const title = due ? dueTitle(label, due) : label;
    return [{ name, ...text, title, ...(name !== first && { text: `${label}: ${text.text}` }) }];
  });
}

function dueTitle(label: string, due: string): string {
  const at = Date.parse(due);
  return `${label}: ${dateTime(at, style.value)} · ${utc(at)}`;
}

/** Both clocks of a ticket, with what they promise. */
export function Clocks({ view }: { view: ServiceLevelView }) {
  const rows = (["firstResponse", "resolution"] as const).map((name) => ({
    name,
    target: view[name],
    text: clockText(view, view[name], now.value, style.value),
  }));
  const shown = rows.filter(({ text }) => text !== null);
  if (shown.length === 0) return <p class="faint">{t("tickets.clock.none")}</p>;
  return (
    <dl class="ticket-clocks">
      {shown.map(({ name, target, text }) => (
        <div key={name}>
          <dt>{t(`tickets.target.${name}`)}</dt>
          <dd>
            <span class={`ticket-clock ${text?.tone ?? ""}`}>{text?.text}</span>
            {target.due && (
              <small title={utc(Date.parse(target.due))}>
                {t("tickets.clock.dueAt", { at: dateTime(Date.parse(target.due), style.value) })}
              </small>
            )}
            <progress
              max={100}
              value={Math.min(100, target.percent)}
              aria-label={t(`tickets.target.${name}`)}
            />
          </dd>
        </div>
      ))}
    </dl>
  );
}
