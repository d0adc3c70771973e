import { useRef, useState } from "preact/hooks";
import type { Ticket } from "../../api/types";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Rows } from "../../parts/Rows";
import { useCurrentRow } from "../../parts/useCurrentRow";
import { go } from "../../router";
import { selectedWith } from "../events/inbox";
import type { Desk } from "./company";
import { type ColumnName, TicketRow, ticketRowHeight, widthsOf } from "./TicketRow";
import { useActs } from "./useActs";
import "../events/inbox.css";

const NONE: ReadonlySet<number> = new Set();

interface TicketRowsProps {
  desk: Desk;
  label: string;
  rows: readonly Ticket[];
  columns: readonly ColumnName[];
  /** Whether several can be selected; for short lists not. */
  selects: boolean;
  onEnd?: () => void;
  /** A ticket was changed here. */
  onDone: (ticket: Ticket) => void;
}

/** Rows of tickets with their keys; several that are selected are changed at once. */
export function TicketRows({ desk, label, rows, columns, selects, onEnd, onDone }: TicketRowsProps) {
  const ids = rows.map(({ id }) => id);
  const [current, setCurrent] = useCurrentRow(ids);
  const [chosen, setChosen] = useState(NONE);
  const anchor = useRef<number | null>(null);
  const acts = useActs(desk, onDone);
  // What is not listed any more is not selected either.
  const selected = new Set(ids.filter((id) => chosen.has(id)));
  const canSelect = selects && desk.handles;
  const meant = (): readonly Ticket[] => {
    if (selected.size > 0) return rows.filter(({ id }) => selected.has(id));
    return rows.slice(Math.max(0, current), current < 0 ? 0 : current + 1);
  };
  const act = (run: (tickets: readonly Ticket[]) => void) => () => {
    const tickets = meant();
    if (!desk.handles || tickets.length === 0) return false;
    run(tickets);
    return true;
  };
  const select = (index: number, isRange: boolean) => {
    const begin = anchor.current === null ? -1 : ids.indexOf(anchor.current);
    setChosen(selectedWith(selected, ids, index, isRange ? (begin < 0 ? index : begin) : null));
    if (!isRange) anchor.current = ids[index] ?? null;
    setCurrent(index);
  };
  const step = (by: number) => setCurrent(Math.max(0, Math.min(ids.length - 1, current + by)));
  useKeys("list", {
    next: () => step(1),
    previous: () => step(-1),
    open: () => {
      const ticket = rows[Math.max(0, current)];
      if (ticket) go(`/tickets/${ticket.id}`);
      return ticket !== undefined;
    },
  });
  useKeys("tickets", {
    select: () => canSelect && current >= 0 && select(current, false),
    selectTo: () => canSelect && current >= 0 && select(current, true),
    move: act((tickets) => acts.choose("move", tickets)),
    take: act(acts.take),
    give: act((tickets) => acts.choose("give", tickets)),
    priority: act((tickets) => acts.choose("priority", tickets)),
  });
  return (
    <>
      {canSelect && (
        <div class={`inbox-bar ticket-bar${selected.size === 0 ? " none" : ""}`}>
          <label class="inbox-check">
            <input
              type="checkbox"
              aria-label={t("review.selectAll")}
              checked={selected.size > 0 && selected.size === ids.length}
              onChange={(event) => setChosen(event.currentTarget.checked ? new Set(ids) : NONE)}
            />
          </label>
          <span role="status">
            {selected.size > 0 ? t("review.selected", { count: selected.size }) : t("tickets.selectSome")}
          </span>
          {(["move", "give", "priority"] as const).map((what) => (
            <button
              key={what}
              type="button"
              disabled={selected.size === 0}
              onClick={() => acts.choose(what, meant())}
            >
              {t(`tickets.choose.${what}`)}
            </button>
          ))}
        </div>
      )}
      <div
        class="ticket-row ticket-head"
        style={{ "--columns": widthsOf(columns, canSelect) }}
        aria-hidden="true"
      >
        {canSelect && <span />}
        <span>{t("tickets.column.ticket")}</span>
        {columns.map((column) => (
          <span key={column} class={`ticket-cell ${column}`}>
            {t(`tickets.column.${column}`)}
          </span>
        ))}
      </div>
      <Rows
        class="ticket-rows"
        label={label}
        count={rows.length}
        rowHeight={ticketRowHeight()}
        current={current}
        keyOf={(index) => ids[index] ?? index}
        {...(onEnd && { onEnd })}
        render={(index) => {
          const ticket = rows[index];
          return (
            ticket && (
              <TicketRow
                desk={desk}
                ticket={ticket}
                columns={columns}
                current={index === current}
                selected={canSelect ? selected.has(ticket.id) : null}
                onSelect={(isRange) => select(index, isRange)}
                onChoose={(what) => acts.choose(what, [ticket])}
              />
            )
          );
        }}
      />
      {acts.dialogs}
    </>
  );
}
