import type { Ticket } from "../../api/types";
import { dateTime, duration, utc } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { device, position } from "../../state/fleet";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { vehicleState } from "../fleet/vehicleState";
import { StatusShape } from "../vehicle/StatusMark";
import { Clock } from "./Clock";
import { type Desk, personName, statusOf } from "./company";
import type { What } from "./useActs";

/** Pixels of a row: on phones it has three lines. */
export function ticketRowHeight(): number {
  return window.matchMedia("(max-width: 699px)").matches ? 112 : 52;
}

export const COLUMNS = ["status", "priority", "assignee", "team", "clock", "updated", "created"] as const;
export type ColumnName = (typeof COLUMNS)[number];
export const USUAL_COLUMNS: readonly ColumnName[] = ["status", "priority", "assignee", "clock", "updated"];

interface TicketRowProps {
  desk: Desk;
  ticket: Ticket;
  columns: readonly ColumnName[];
  /** Where the arrows are. */
  current: boolean;
  /** Null where nothing is selected, for readers who change nothing. */
  selected: boolean | null;
  onSelect: (isRange: boolean) => void;
  /** Ask for another status, assignee or priority. */
  onChoose: (what: What) => void;
}

/** A ticket in a list: what it is about, which vehicle, and what can be changed at once. */
export function TicketRow({ desk, ticket, columns, current, selected, onSelect, onChoose }: TicketRowProps) {
  const { number, subject } = ticket;
  return (
    <div
      class={`ticket-row${current ? " current" : ""}${selected ? " selected" : ""}`}
      style={{ "--columns": widthsOf(columns, selected !== null) }}
    >
      {selected !== null && (
        <label class="inbox-check">
          <input
            type="checkbox"
            aria-label={t("tickets.select", { number, subject })}
            checked={selected}
            onClick={(click) => onSelect(click.shiftKey)}
          />
        </label>
      )}
      <span class="ticket-what">
        <Link to={`/tickets/${ticket.id}`} class="ticket-subject">
          <span class="ticket-number">#{number}</span> {subject}
        </Link>
        {ticket.deviceId !== 0 && <VehicleName id={ticket.deviceId} />}
      </span>
      {columns.map((column) => (
        <Cell key={column} column={column} desk={desk} ticket={ticket} onChoose={onChoose} />
      ))}
    </div>
  );
}

const WIDTHS: Record<ColumnName, string> = {
  status: "164px",
  priority: "110px",
  assignee: "140px",
  team: "130px",
  clock: "224px",
  updated: "100px",
  created: "100px",
};

export function widthsOf(columns: readonly ColumnName[], selects: boolean): string {
  const widths = columns.map((column) => WIDTHS[column]);
  return [...(selects ? ["44px"] : []), "minmax(0, 1fr)", ...widths].join(" ");
}

interface CellProps {
  column: ColumnName;
  desk: Desk;
  ticket: Ticket;
  onChoose: (what: What) => void;
}

function Cell({ column, desk, ticket, onChoose }: CellProps) {
  switch (column) {
    case "status": {
      const status = statusOf(desk, ticket.statusId);
      return (
        <Changeable
          desk={desk}
          label={t("tickets.choose.move")}
          onPress={() => onChoose("move")}
          column={column}
        >
          <StatusBadge kind={ticket.statusKind} name={status?.name ?? ""} />
        </Changeable>
      );
    }
    case "priority": {
      const found = desk.priorities.find(({ id }) => id === ticket.priorityId);
      return (
        <Changeable
          desk={desk}
          label={t("tickets.choose.priority")}
          onPress={() => onChoose("priority")}
          column={column}
        >
          {found?.name ?? t("tickets.noPriority")}
        </Changeable>
      );
    }
    case "assignee":
      return (
        <Changeable
          desk={desk}
          label={t("tickets.choose.give")}
          onPress={() => onChoose("give")}
          column={column}
        >
          {ticket.assigneeId === 0 ? (
            <span class="faint">{t("tickets.nobody")}</span>
          ) : (
            personName(desk, ticket.assigneeId)
          )}
        </Changeable>
      );
    case "team":
      return (
        <span class="ticket-cell team">{desk.teams.find(({ id }) => id === ticket.teamId)?.name ?? ""}</span>
      );
    case "clock":
      return (
        <span class="ticket-cell clock">
          <Clock ticket={ticket} />
        </span>
      );
    case "updated":
      return <Ago column={column} at={ticket.updatedAt} />;
    case "created":
      return <Ago column={column} at={ticket.createdAt} />;
  }
}

function Ago({ column, at }: { column: string; at: string }) {
  const instant = Date.parse(at);
  return (
    <time
      class={`ticket-cell ${column}`}
      dateTime={at}
      title={`${dateTime(instant, style.value)} · ${utc(instant)}`}
    >
      {t("common.ago", { span: duration(now.value - instant, style.value) })}
    </time>
  );
}

interface ChangeableProps {
  desk: Desk;
  column: ColumnName;
  label: string;
  onPress: () => void;
  children: preact.ComponentChildren;
}

/** A value that agents change by pressing it. */
function Changeable({ desk, column, label, onPress, children }: ChangeableProps) {
  if (!desk.handles) return <span class={`ticket-cell ${column}`}>{children}</span>;
  return (
    <button type="button" class={`ticket-cell changeable ${column}`} title={label} onClick={onPress}>
      {children}
    </button>
  );
}

/** A status: its kind as color and shape, its name as word. */
export function StatusBadge({ kind, name }: { kind: string; name: string }) {
  return (
    <span class={`ticket-status ${kind}`}>
      <span class="ticket-status-shape" aria-hidden="true" />
      <span>{name}</span>
    </span>
  );
}

/** A vehicle with its state; it leads to the vehicle. */
export function VehicleName({ id }: { id: number }) {
  const found = device(id).value;
  if (!found) return <small class="ticket-vehicle">{t("event.number", { id })}</small>;
  const state = vehicleState(found, position(id).value, now.value);
  return (
    <Link to={`/vehicles/${id}`} class="ticket-vehicle">
      <span class={`status ${state}`} title={t(`status.${state}`)}>
        <StatusShape state={state} />
      </span>
      <span>{found.name}</span>
    </Link>
  );
}
