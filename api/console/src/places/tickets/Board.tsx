import { useRef, useState } from "preact/hooks";
import type { Ticket, TicketStatus } from "../../api/types";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { go } from "../../router";
import { placed } from "./board";
import { Clock } from "./Clock";
import { type Desk, following, personName } from "./company";
import { DeskFrame } from "./DeskFrame";
import { StatusBadge, VehicleName } from "./TicketRow";
import { type Acts, useActs } from "./useActs";
import { useSlide } from "./useSlide";
import { useTicketList } from "./useTicketList";
import { isDone } from "./words";
import "./board.css";

/** Cards of a column that are read at once. */
const PAGE = 50;

/** The tickets of a company by status: a card is moved by dragging it, or by its menu. */
export default function Board() {
  return <DeskFrame tab="board">{(desk) => <Columns key={desk.company.id} desk={desk} />}</DeskFrame>;
}

function Columns({ desk }: { desk: Desk }) {
  // What was moved here, until the lists say so too.
  const [changed, setChanged] = useState<ReadonlyMap<number, Ticket>>(new Map());
  const [held, setHeld] = useState<Ticket | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const acts = useActs(desk, (after) => setChanged((before) => new Map(before).set(after.id, after)));
  const statuses = desk.statuses.filter(({ disabled }) => !disabled);
  const allowed = held && new Set(following(desk.statuses, held.statusId).map(({ id }) => id));
  useSlide(box, held?.id ?? 0);

  const cards = () => [...(box.current?.querySelectorAll<HTMLElement>("[data-ticket]") ?? [])];
  const at = () => cards().findIndex((card) => card.contains(document.activeElement));
  const step = (by: number) => {
    const all = cards();
    const next = all[Math.max(0, Math.min(all.length - 1, at() + by))];
    next?.querySelector<HTMLElement>("a")?.focus();
    next?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const known = useRef(new Map<number, Ticket>());
  const current = () => known.current.get(Number(cards()[at()]?.dataset.ticket));
  const onCurrent = (act: (ticket: Ticket) => void) => () => {
    const ticket = current();
    if (!ticket || !desk.handles) return false;
    act(ticket);
    return true;
  };
  useKeys("list", {
    next: () => step(1),
    previous: () => step(-1),
    open: () => {
      const ticket = current();
      if (ticket) go(`/tickets/${ticket.id}`);
      return ticket !== undefined;
    },
  });
  useKeys("tickets", {
    move: onCurrent((ticket) => acts.choose("move", [ticket])),
    take: onCurrent((ticket) => acts.take([ticket])),
    give: onCurrent((ticket) => acts.choose("give", [ticket])),
    priority: onCurrent((ticket) => acts.choose("priority", [ticket])),
  });
  return (
    <div ref={box} class={`board${held ? " dragging" : ""}`}>
      {statuses.map((status) => (
        <Column
          key={status.id}
          desk={desk}
          status={status}
          changed={changed}
          known={known.current}
          acts={acts}
          allowed={allowed === null || status.id === held?.statusId ? null : allowed.has(status.id)}
          onHold={setHeld}
          onDrop={() => {
            if (held && held.statusId !== status.id) acts.move([held], status.id);
            setHeld(null);
          }}
        />
      ))}
      {acts.dialogs}
    </div>
  );
}

interface ColumnProps {
  desk: Desk;
  status: TicketStatus;
  changed: ReadonlyMap<number, Ticket>;
  /** The tickets of the board by id. */
  known: Map<number, Ticket>;
  acts: Acts;
  /** Whether the card that is dragged may be dropped here; null while none is, or it lies here. */
  allowed: boolean | null;
  onHold: (ticket: Ticket | null) => void;
  onDrop: () => void;
}

function Column({ desk, status, changed, known, acts, allowed, onHold, onDrop }: ColumnProps) {
  const [over, setOver] = useState(false);
  const companyId = desk.company.id;
  const list = useTicketList(
    companyId,
    `board ${companyId} ${status.id}`,
    () => ({ companyId, statusId: status.id, sort: isDone(status.kind) ? "-updatedAt" : "nextDue" }),
    PAGE,
  );
  const { rows, more } = placed(list.rows ?? [], changed, status.id);
  for (const ticket of rows) known.set(ticket.id, ticket);
  const count = Math.max(rows.length, list.total + more);
  return (
    <section
      class={`board-column${allowed === false ? " forbidden" : ""}${allowed && over ? " over" : ""}`}
      aria-label={status.name}
      onDragOver={(event) => {
        if (!allowed) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        if (allowed) onDrop();
      }}
    >
      <h2>
        <StatusBadge kind={status.kind} name={status.name} />
        <span class="badge">{count}</span>
      </h2>
      {list.problem !== null && <Problem problem={list.problem} onRetry={list.reload} />}
      {!list.rows && list.problem === null && <Skeleton label={t("common.loading")} lines={4} />}
      <ul class="board-cards">
        {rows.map((ticket) => (
          <Card key={ticket.id} desk={desk} ticket={ticket} acts={acts} onHold={onHold} />
        ))}
        {list.rows && list.rows.length < list.total && (
          <li>
            <button type="button" class="quiet" onClick={list.readMore}>
              {t("common.more")}
            </button>
          </li>
        )}
      </ul>
    </section>
  );
}

interface CardProps {
  desk: Desk;
  ticket: Ticket;
  acts: Acts;
  onHold: (ticket: Ticket | null) => void;
}

function Card({ desk, ticket, acts, onHold }: CardProps) {
  const priority = desk.priorities.find(({ id }) => id === ticket.priorityId)?.name;
  return (
    <li
      class="board-card"
      data-ticket={ticket.id}
      draggable={desk.handles}
      onDragStart={(event) => {
        event.dataTransfer?.setData("text/plain", `#${ticket.number} ${ticket.subject}`);
        onHold(ticket);
      }}
      onDragEnd={() => onHold(null)}
    >
      <Link to={`/tickets/${ticket.id}`} class="board-subject" draggable={false}>
        <span class="ticket-number">#{ticket.number}</span> {ticket.subject}
      </Link>
      {ticket.deviceId !== 0 && <VehicleName id={ticket.deviceId} />}
      <Clock ticket={ticket} />
      <span class="board-end">
        <small>
          {[priority, ticket.assigneeId ? personName(desk, ticket.assigneeId) : t("tickets.nobody")]
            .filter(Boolean)
            .join(" · ")}
        </small>
        {desk.handles && (
          <button
            type="button"
            class="icon-button small"
            aria-label={t("tickets.moveTicket", { number: ticket.number })}
            title={t("tickets.choose.move")}
            onClick={() => acts.choose("move", [ticket])}
          >
            <Icon name="more" size={18} />
          </button>
        )}
      </span>
    </li>
  );
}
