import { useEffect, useRef, useState } from "preact/hooks";
import { get, Problem as Refused, remove } from "../../api/call";
import type { Ticket, TicketEvent } from "../../api/types";
import { t } from "../../i18n/translate";
import { useKeys } from "../../keys/listen";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Menu } from "../../parts/Menu";
import { Problem } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { go } from "../../router";
import { useLoaded } from "../../state/responseCache";
import { CommandDialog } from "./CommandDialog";
import { Composer, type ComposerHandle } from "./Composer";
import { Conversation } from "./Conversation";
import { useTicketChanges } from "./changes";
import { type Desk, myId, personName, statusOf, useDesk } from "./company";
import { EditDialog } from "./EditDialog";
import { EscalateDialog } from "./EscalateDialog";
import { EvidenceDialog } from "./EvidenceDialog";
import { Facts } from "./Facts";
import { StatusBadge } from "./TicketRow";
import { useActs } from "./useActs";
import { usePresence } from "./usePresence";
import { isDone } from "./words";
import "../vehicle/vehicle.css";
import "./tickets.css";

/** Entries of a history that are read at once, and how often at most. */
const PAGE = 1000;
const MOST_PAGES = 10;

/** What the page shows of a ticket. */
export interface Whole {
  ticket: Ticket;
  entries: readonly TicketEvent[];
}

async function readWhole(id: number, signal: AbortSignal): Promise<Whole> {
  const readPage = (page: number) =>
    get<TicketEvent[]>(`/tickets/${id}/events`, { limit: PAGE, offset: page * PAGE }, signal);
  const [ticket, first] = await Promise.all([get<Ticket>(`/tickets/${id}`, undefined, signal), readPage(0)]);
  const entries = [...first];
  for (let page = 1; page < MOST_PAGES && entries.length === page * PAGE; page += 1)
    entries.push(...(await readPage(page)));
  return { ticket, entries };
}

/** A ticket: what was said at the left, its facts at the right. */
export default function TicketPage({ params }: { params: Record<string, string> }) {
  const id = Number(params.id) || 0;
  const whole = useLoaded(`ticket ${id}`, (signal) => readWhole(id, signal));
  const desk = useDesk(whole.value?.ticket.companyId ?? 0);
  useTicketChanges(whole.value?.ticket.companyId ?? 0, whole.reload);
  const title = whole.value
    ? `#${whole.value.ticket.number} ${whole.value.ticket.subject}`
    : t("frame.tickets");
  useEffect(() => {
    document.title = `${title} · Motorpool`;
  }, [title]);
  useKeys("ticket", { back });
  if (whole.problem instanceof Refused && [400, 404].includes(whole.problem.status) && !whole.value) {
    return (
      <Empty icon="ticket" title={t("tickets.missing")}>
        <Link class="button" to="/tickets/list">
          {t("tickets.toList")}
        </Link>
      </Empty>
    );
  }
  const problem = whole.value ? desk.problem : whole.problem;
  if (problem !== null)
    return <Problem problem={problem} onRetry={whole.value ? desk.reload : whole.reload} />;
  if (!whole.value || !desk.value) {
    return <Skeleton label={t("common.loading")} lines={8} />;
  }
  return <Page key={id} whole={whole.value} desk={desk.value} onChanged={whole.reload} />;
}

/** The list as the reader left it, where they came from there. */
function back(): void {
  go("/tickets/list");
}

interface PageProps {
  whole: Whole;
  desk: Desk;
  onChanged: () => void;
}

type Over = "evidence" | "escalate" | "command" | "edit" | "delete" | null;

function Page({ whole: { ticket: read, entries }, desk, onChanged }: PageProps) {
  // What was changed here is newer than what was read.
  const [changed, setChanged] = useState(read);
  const ticket = changed.version > read.version ? changed : read;
  const [over, setOver] = useState<Over>(null);
  const composer = useRef<ComposerHandle>(null);
  const acts = useActs(desk, (after) => {
    setChanged(after);
    onChanged();
  });
  const { handles } = desk;
  const [writing, setWriting] = useState(false);
  const others = usePresence(ticket.id, handles, writing);
  const only = (run: () => void) => () => {
    if (!handles) return false;
    run();
    return true;
  };
  const one = [ticket];
  useKeys("ticket", {
    reply: () => composer.current?.begin("reply") ?? false,
    note: () => handles && (composer.current?.begin("note") ?? false),
    move: only(() => acts.choose("move", one)),
    take: only(() => acts.take(one)),
    give: only(() => acts.choose("give", one)),
    priority: only(() => acts.choose("priority", one)),
    escalate: only(() => setOver("escalate")),
    evidence: only(() => setOver("evidence")),
    command: () => {
      if (!handles || !ticket.deviceId) return false;
      setOver("command");
      return true;
    },
  });
  const close = () => setOver(null);
  const done = () => {
    close();
    onChanged();
  };
  return (
    <div class="ticket">
      <header class="ticket-page-head">
        <button
          type="button"
          class="icon-button"
          aria-label={t("tickets.toList")}
          title={t("tickets.toList")}
          onClick={back}
        >
          <Icon name="back" />
        </button>
        <h1>
          <span class="ticket-number">#{ticket.number}</span> {ticket.subject}
        </h1>
        {handles ? (
          <button
            type="button"
            class="ticket-status-button"
            title={t("tickets.choose.move")}
            onClick={() => acts.choose("move", one)}
          >
            <StatusBadge kind={ticket.statusKind} name={statusOf(desk, ticket.statusId)?.name ?? ""} />
            <Icon name="down" size={14} />
          </button>
        ) : (
          <StatusBadge kind={ticket.statusKind} name={statusOf(desk, ticket.statusId)?.name ?? ""} />
        )}
        {handles && ticket.assigneeId !== myId() && !isDone(ticket.statusKind) && (
          <button
            type="button"
            class={ticket.assigneeId === 0 ? "primary" : ""}
            onClick={() => {
              acts.take(one);
              // The button goes with it; who takes a ticket answers it.
              composer.current?.begin(writing ? null : "reply");
            }}
          >
            {t("tickets.take")}
          </button>
        )}
        {handles && (
          <MoreActs
            ticket={ticket}
            manages={desk.manages}
            onOver={setOver}
            onGive={() => acts.choose("give", one)}
          />
        )}
      </header>
      {others.length > 0 && (
        <p class="ticket-presence" role="status">
          {others.map(({ userId, name, state }) => (
            <span key={userId}>
              {t(`tickets.presence.${state}`, { name: name || personName(desk, userId) })}
            </span>
          ))}
        </p>
      )}
      <div class="ticket-body">
        <section class="ticket-left" aria-label={t("tickets.conversation")}>
          <Conversation desk={desk} ticket={ticket} entries={entries} />
          <Composer handle={composer} desk={desk} ticket={ticket} onSent={onChanged} onWriting={setWriting} />
        </section>
        <Facts
          desk={desk}
          ticket={ticket}
          entries={entries}
          acts={acts}
          onEvidence={() => setOver("evidence")}
          onEscalate={() => setOver("escalate")}
          onCommand={() => setOver("command")}
        />
      </div>
      {acts.dialogs}
      {over === "evidence" && <EvidenceDialog ticket={ticket} onClose={close} onDone={done} />}
      {over === "escalate" && <EscalateDialog desk={desk} ticket={ticket} onClose={close} onDone={done} />}
      {over === "edit" && (
        <EditDialog
          ticket={ticket}
          onClose={close}
          onSave={(fields) => {
            close();
            acts.edit(ticket, fields);
          }}
        />
      )}
      {over === "delete" && (
        <Question
          title={t("tickets.deleteTitle", { number: ticket.number })}
          text={t("tickets.deleteText")}
          act={t("common.delete")}
          run={async () => {
            await remove(`/tickets/${ticket.id}`);
            back();
          }}
          onClose={close}
        />
      )}
      {over === "command" && <CommandDialog ticket={ticket} onClose={done} />}
    </div>
  );
}

interface MoreProps {
  ticket: Ticket;
  manages: boolean;
  onOver: (over: Over) => void;
  onGive: () => void;
}

/** What else can be done with a ticket, in a menu. */
function MoreActs({ ticket, manages, onOver, onGive }: MoreProps) {
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  return (
    <>
      <button
        type="button"
        class="icon-button"
        aria-label={t("common.more")}
        aria-haspopup="menu"
        aria-expanded={at !== null}
        onClick={(event) => {
          const { right, bottom } = event.currentTarget.getBoundingClientRect();
          setAt({ x: right, y: bottom });
        }}
      >
        <Icon name="more" />
      </button>
      {at && (
        <Menu
          label={t("common.more")}
          at={at}
          onClose={() => setAt(null)}
          items={[
            { label: t("tickets.choose.give"), icon: "user", run: onGive },
            { label: t("tickets.escalate"), icon: "warning", run: () => onOver("escalate") },
            { label: t("tickets.addEvidence"), icon: "plus", run: () => onOver("evidence") },
            ...(ticket.deviceId
              ? [{ label: t("keys.command"), icon: "command" as const, run: () => onOver("command") }]
              : []),
            { label: t("tickets.editText"), icon: "edit", run: () => onOver("edit") },
            ...(manages
              ? [{ label: t("tickets.delete"), icon: "trash" as const, run: () => onOver("delete") }]
              : []),
          ]}
        />
      )}
    </>
  );
}
