import type { Ref } from "preact";
import { useEffect, useImperativeHandle, useRef, useState } from "preact/hooks";
import { get, post } from "../../api/call";
import type { NewComment, Ticket, TicketEvent } from "../../api/types";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { may } from "../../state/session";
import { keepForUser, readForUser } from "../../state/userStorage";
import { type Desk, following, personName } from "./company";
import { useContact } from "./contacts";
import { type Draft, keepDraft, readDraft } from "./drafts";
import { valueName } from "./words";

const LONGEST = 20_000;
/** The kind of status that a reply is followed by, as chosen last. */
const AFTER_KEY = "tickets.afterReply";

export interface ComposerHandle {
  /** Put the focus into the field; null: for what it was for. */
  begin: (mode: Draft["mode"] | null) => boolean;
}

interface ComposerProps {
  handle: Ref<ComposerHandle>;
  desk: Desk;
  ticket: Ticket;
  onSent: () => void;
  /** Whether something is being written. */
  onWriting: (writing: boolean) => void;
}

/** Writes a reply or a note to the team; a status goes with it in one request. What is begun stays in this tab. */
export function Composer({ handle, desk, ticket, onSent, onWriting }: ComposerProps) {
  const [draft, setDraft] = useState<Draft>(() => readDraft(ticket.id));
  const [after, setAfter] = useState<number | null>(null);
  const [busy, setBusy] = useState(false);
  const [meanwhile, setMeanwhile] = useState<Ticket | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const contact = useContact(ticket.contactId);
  const mode = desk.handles ? draft.mode : "reply";
  const statuses = following(desk.statuses, ticket.statusId);
  const usual = mode === "reply" ? (statuses.find(({ kind }) => kind === usualKind())?.id ?? 0) : 0;
  const statusId = desk.handles ? (after ?? usual) : 0;
  const to = contact?.name ?? (personName(desk, ticket.reporterId) || t("tickets.everyone"));

  const change = (next: Draft) => {
    setDraft(next);
    keepDraft(ticket.id, next);
  };
  useImperativeHandle(handle, () => ({
    begin: (wanted) => {
      if (wanted) {
        setDraft((before) => ({ ...before, mode: wanted }));
        setAfter(null);
      }
      field.current?.focus();
      return field.current !== null;
    },
  }));
  const isWriting = draft.text.trim() !== "";
  useEffect(() => onWriting(isWriting), [isWriting]);
  // The draft of before may be longer than the field.
  useEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(320, element.scrollHeight + 2)}px`;
  }, [draft.text]);

  async function send(version: number | null) {
    const text = draft.text.trim();
    if (busy || text === "") return;
    setBusy(true);
    const body: NewComment = {
      text,
      internal: mode === "note",
      ...(statusId !== 0 && { statusId }),
      // A comment alone hinders nobody.
      ...(statusId !== 0 && version !== null && { version }),
    };
    try {
      await post<TicketEvent>(`/tickets/${ticket.id}/comments`, body);
      change({ mode: draft.mode, text: "" });
      setAfter(null);
      setMeanwhile(null);
      toast(t(mode === "note" ? "tickets.noted" : "tickets.sent"));
      onSent();
    } catch (problem) {
      const theirs = await get<Ticket>(`/tickets/${ticket.id}`).catch(() => null);
      if (version !== null && statusId !== 0 && theirs && theirs.version !== version) setMeanwhile(theirs);
      else toast(sentenceOf(problem), "bad");
    }
    setBusy(false);
  }

  if (!may("edit")) return null;
  return (
    <form
      class={`composer ${mode}`}
      aria-label={t(`tickets.mode.${mode}`)}
      onSubmit={(event) => {
        event.preventDefault();
        void send(ticket.version);
      }}
    >
      {desk.handles && (
        <div class="composer-modes" role="radiogroup" aria-label={t("tickets.who")}>
          {(["reply", "note"] as const).map((each) => (
            <label key={each} class={mode === each ? "chosen" : ""}>
              <input
                type="radio"
                name="mode"
                checked={mode === each}
                onChange={() => {
                  setAfter(null);
                  change({ ...draft, mode: each });
                }}
              />
              {t(`tickets.mode.${each}`)}
            </label>
          ))}
        </div>
      )}
      <textarea
        ref={field}
        rows={3}
        maxLength={LONGEST}
        aria-label={t(`tickets.write.${mode}`)}
        placeholder={t(`tickets.write.${mode}`)}
        value={draft.text}
        onInput={(event) => change({ ...draft, mode, text: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            void send(ticket.version);
          } else if (event.key === "Escape") {
            event.stopPropagation();
            field.current?.blur();
          }
        }}
      />
      {meanwhile && (
        <div class="composer-conflict" role="alert">
          <Icon name="warning" />
          <p>
            {t("tickets.conflict.comment", {
              before: valueName(desk, "statusId", ticket.statusId),
              after: valueName(desk, "statusId", meanwhile.statusId),
            })}
          </p>
          <button type="button" onClick={() => void send(null)}>
            {t("tickets.conflict.send")}
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => {
              setMeanwhile(null);
              setAfter(0);
              onSent();
            }}
          >
            {t("tickets.conflict.keep")}
          </button>
        </div>
      )}
      <div class="composer-end">
        {desk.handles && (
          <label class="composer-after">
            <span>{t("tickets.after")}</span>
            <select
              value={String(statusId)}
              onChange={(event) => {
                const id = Number(event.currentTarget.value);
                setAfter(id);
                if (mode === "reply")
                  keepForUser(AFTER_KEY, statuses.find((each) => each.id === id)?.kind ?? "");
              }}
            >
              <option value="0">{t("tickets.afterNothing")}</option>
              {statuses.map(({ id, name }) => (
                <option key={id} value={String(id)}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        <button type="submit" class="primary" disabled={busy || draft.text.trim() === ""} title="Ctrl+Enter">
          <Icon name={mode === "note" ? "eye" : "next"} size={18} />
          {mode === "note" ? t("tickets.sendNote") : t("tickets.sendTo", { name: to })}
        </button>
      </div>
    </form>
  );
}

/** After a reply the contact is waited for, unless the reader chose otherwise last time. */
function usualKind(): string {
  const kept = readForUser(AFTER_KEY);
  return typeof kept === "string" ? kept : "pending";
}
