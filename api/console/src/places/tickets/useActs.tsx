import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Ticket } from "../../api/types";
import { t } from "../../i18n/translate";
import { type Choice, Palette } from "../../keys/Palette";
import { Dialog } from "../../parts/Dialog";
import { Check } from "../../parts/Field";
import { picked } from "../../parts/Picker";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { applyToAll, type Change, Conflict, type Result, touched, undoing } from "./changes";
import { assignable, type Desk, following, myId, personName } from "./company";
import { fieldName, isDone, valueName } from "./words";

export type What = "move" | "give" | "team" | "priority" | "category";

export interface Acts {
  /** Ask what to do with tickets, of what may be done with all of them. */
  choose: (what: What, tickets: readonly Ticket[]) => void;
  /** Give tickets to the reader. */
  take: (tickets: readonly Ticket[]) => void;
  /** Move tickets to a status; where that is the end of them, ask for a comment. */
  move: (tickets: readonly Ticket[], statusId: number) => void;
  edit: (ticket: Ticket, fields: Record<string, unknown>) => void;
  /** What has to be drawn for it. */
  dialogs: ComponentChildren;
}

type Asking =
  | { kind: "choose"; what: What; tickets: readonly Ticket[] }
  | { kind: "end"; statusId: number; tickets: readonly Ticket[] }
  | { kind: "failed"; results: readonly Result[] }
  | { kind: "conflict"; seen: Ticket; theirs: Ticket; change: Change };

/** What agents do to tickets, one or several: with a notice by which it is undone, and what did not work. */
export function useActs(desk: Desk, onDone: (ticket: Ticket) => void): Acts {
  const [asking, setAsking] = useState<Asking | null>(null);
  const close = () => setAsking(null);

  async function run(tickets: readonly Ticket[], change: Change, isUndone = false): Promise<void> {
    const meant = tickets.filter((ticket) => changes(ticket, change));
    if (meant.length === 0) return;
    const results = await applyToAll(
      meant,
      () => change,
      ({ after }) => after && onDone(after),
    );
    tell(results, change, isUndone);
  }

  function tell(results: readonly Result[], change: Change, isUndone: boolean): void {
    const done = results.flatMap(({ before, after }) => (after ? [{ before, after }] : []));
    const failed = results.filter(({ after }) => !after);
    const [first] = failed;
    if (first && results.length === 1) {
      if (first.problem instanceof Conflict)
        setAsking({ kind: "conflict", seen: first.before, theirs: first.problem.theirs, change });
      else toast(sentenceOf(first.problem), "bad");
    } else if (first) setAsking({ kind: "failed", results });
    const [one] = done;
    if (!one) return;
    const undo = {
      label: t("common.undo"),
      run: () => {
        void Promise.all(done.map(({ before, after }) => run([after], undoing(before, change), true)));
      },
    };
    const text =
      done.length === 1 ? doneText(desk, one.after, change) : t("tickets.changed", { count: done.length });
    toast(isUndone ? t("tickets.undone") : text, "good", ...(isUndone ? [] : [undo]));
  }

  const move = (tickets: readonly Ticket[], statusId: number) => {
    const kind = desk.statuses.find(({ id }) => id === statusId)?.kind ?? "";
    if (isDone(kind)) setAsking({ kind: "end", statusId, tickets });
    else void run(tickets, { kind: "move", statusId });
  };

  const acts: Omit<Acts, "dialogs"> = {
    choose: (what, tickets) => tickets.length > 0 && setAsking({ kind: "choose", what, tickets }),
    take: (tickets) => void run(tickets, { kind: "edit", fields: { assigneeId: myId() } }),
    move,
    edit: (ticket, fields) => void run([ticket], { kind: "edit", fields }),
  };

  const dialogs = (
    <>
      {asking?.kind === "choose" && (
        <Palette
          title={t(`tickets.choose.${asking.what}`)}
          find={(text) =>
            picked(choicesOf(desk, asking.what, asking.tickets), text).map((each) => ({
              ...each,
              run: () =>
                asking.what === "move"
                  ? move(asking.tickets, Number(each.id))
                  : void run(asking.tickets, {
                      kind: "edit",
                      fields: { [FIELDS[asking.what]]: Number(each.id) },
                    }),
            }))
          }
          onClose={close}
        />
      )}
      {asking?.kind === "end" && (
        <EndDialog
          desk={desk}
          statusId={asking.statusId}
          count={asking.tickets.length}
          onClose={close}
          onDone={(comment, internal) => {
            close();
            void run(asking.tickets, { kind: "move", statusId: asking.statusId, comment, internal });
          }}
        />
      )}
      {asking?.kind === "failed" && <Failed results={asking.results} onClose={close} />}
      {asking?.kind === "conflict" && (
        <ConflictDialog
          desk={desk}
          {...asking}
          onClose={() => {
            close();
            onDone(asking.theirs);
          }}
          onMine={() => {
            close();
            void run([asking.theirs], asking.change);
          }}
        />
      )}
    </>
  );
  return { ...acts, dialogs };
}

const FIELDS = {
  give: "assigneeId",
  team: "teamId",
  priority: "priorityId",
  category: "categoryId",
} as const;

function changes(ticket: Ticket, change: Change): boolean {
  if (change.kind === "move") return ticket.statusId !== change.statusId;
  const fields = change.fields as Record<string, unknown>;
  return touched(change).some((name) => JSON.stringify(ticket[name]) !== JSON.stringify(fields[name]));
}

/** What may be chosen for all of these tickets. */
function choicesOf(desk: Desk, what: What, tickets: readonly Ticket[]): readonly Omit<Choice, "run">[] {
  const inAll = <T extends { id: number }>(lists: readonly (readonly T[])[]): readonly T[] =>
    (lists[0] ?? []).filter(({ id }) => lists.every((list) => list.some((each) => each.id === id)));
  const none = { id: 0, name: t("tickets.nobody") };
  switch (what) {
    case "move":
      return inAll(tickets.map(({ statusId }) => following(desk.statuses, statusId))).map(
        ({ id, name, kind }) => ({
          id,
          name,
          note: t(`ticket.${kind as "new"}`),
        }),
      );
    case "give": {
      const people = inAll(tickets.map(({ teamId }) => assignable(desk, teamId)));
      const me = people.filter(({ id }) => id === myId());
      const others = people.filter(({ id }) => id !== myId());
      return [
        ...[...me, ...others].map(({ id, name, email }) => ({
          id,
          name: name || email,
          note: id === myId() ? t("tickets.me") : email,
        })),
        none,
      ];
    }
    case "team":
      return [
        ...desk.teams.filter(({ disabled }) => !disabled).map(({ id, name }) => ({ id, name })),
        { ...none, name: t("common.none") },
      ];
    case "priority":
      return desk.priorities.filter(({ disabled }) => !disabled).map(({ id, name }) => ({ id, name }));
    case "category":
      return desk.categories
        .filter(({ disabled }) => !disabled)
        .map(({ id, name, parentId }) => ({
          id,
          name,
          note: desk.categories.find((each) => each.id === parentId)?.name ?? "",
        }));
  }
}

function doneText(desk: Desk, { number, statusId, assigneeId }: Ticket, change: Change): string {
  if (change.kind === "move")
    return t("tickets.moved", {
      number,
      status: desk.statuses.find(({ id }) => id === statusId)?.name ?? "",
    });
  if ("assigneeId" in change.fields)
    return assigneeId === 0
      ? t("tickets.givenBack", { number })
      : assigneeId === myId()
        ? t("tickets.taken", { number })
        : t("tickets.given", { number, name: personName(desk, assigneeId) });
  return t("tickets.saved", { number });
}

interface EndProps {
  desk: Desk;
  statusId: number;
  count: number;
  onClose: () => void;
  onDone: (comment: string, internal: boolean) => void;
}

/** Asks for a comment before tickets end. */
function EndDialog({ desk, statusId, count, onClose, onDone }: EndProps) {
  const [text, setText] = useState("");
  const [internal, setInternal] = useState(false);
  const status = desk.statuses.find(({ id }) => id === statusId)?.name ?? "";
  return (
    <Dialog
      title={t("tickets.end.title", { count, status })}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            {t("common.cancel")}
          </button>
          <button type="button" class="primary" onClick={() => onDone(text.trim(), internal)}>
            {status}
          </button>
        </>
      }
    >
      <form
        class={`ticket-end ${internal ? "internal" : ""}`}
        onSubmit={(event) => {
          event.preventDefault();
          onDone(text.trim(), internal);
        }}
      >
        <label class="field">
          <span>{t(internal ? "tickets.end.note" : "tickets.end.comment")}</span>
          <textarea
            rows={4}
            maxLength={20_000}
            value={text}
            autofocus
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onDone(text.trim(), internal);
            }}
          />
        </label>
        <Check label={t("tickets.end.internal")} checked={internal} onChange={setInternal} />
      </form>
    </Dialog>
  );
}

/** What became of each of several tickets. */
function Failed({ results, onClose }: { results: readonly Result[]; onClose: () => void }) {
  const done = results.filter(({ after }) => after).length;
  return (
    <Dialog title={t("tickets.results", { count: done, total: results.length })} onClose={onClose}>
      <ul class="ticket-results">
        {results.map(({ before, after, problem }) => (
          <li key={before.id} class={after ? "good" : "bad"}>
            <strong>
              #{before.number} {before.subject}
            </strong>
            <span>
              {after
                ? t("tickets.resultGood")
                : problem instanceof Conflict
                  ? t("tickets.resultConflict")
                  : sentenceOf(problem)}
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

interface ConflictProps {
  desk: Desk;
  seen: Ticket;
  theirs: Ticket;
  change: Change;
  onClose: () => void;
  onMine: () => void;
}

/** Says what somebody else has changed meanwhile, and offers the reader's change on top of it. */
function ConflictDialog({ desk, seen, theirs, change, onClose, onMine }: ConflictProps) {
  return (
    <Dialog
      title={t("tickets.conflict.title", { number: seen.number })}
      onClose={onClose}
      actions={
        <>
          <button type="button" autofocus onClick={onClose}>
            {t("tickets.conflict.theirs")}
          </button>
          <button type="button" onClick={onMine}>
            {t("tickets.conflict.mine")}
          </button>
        </>
      }
    >
      <p>{t("tickets.conflict.text")}</p>
      <ul>
        {touched(change).map((name) => (
          <li key={name}>
            {t("tickets.conflict.field", {
              field: fieldName(name),
              before: valueName(desk, name, seen[name]),
              after: valueName(desk, name, theirs[name]),
            })}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
