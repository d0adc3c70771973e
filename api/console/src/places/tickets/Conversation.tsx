import { useEffect, useRef } from "preact/hooks";
import type { Ticket, TicketEvent } from "../../api/types";
import { dateTime, shortTime, utc } from "../../format/times";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { type Desk, personName } from "./company";
import { useContact } from "./contacts";

interface ConversationProps {
  desk: Desk;
  ticket: Ticket;
  entries: readonly TicketEvent[];
}

/** What was said, oldest first: the description, replies, and notes to the team, which look different. */
export function Conversation({ desk, ticket, entries }: ConversationProps) {
  const comments = entries.filter(({ type }) => type === "comment");
  const list = useRef<HTMLOListElement>(null);
  const count = comments.length;
  const shown = useRef(count);
  useEffect(() => {
    if (count > shown.current) list.current?.lastElementChild?.scrollIntoView({ block: "nearest" });
    shown.current = count;
  }, [count]);
  const created = entries.find(({ type }) => type === "created");
  return (
    <ol ref={list} class="ticket-talk" aria-label={t("tickets.conversation")}>
      <Said
        author={
          created ? authorOf(desk, created) : personName(desk, ticket.reporterId) || t("tickets.server")
        }
        at={ticket.createdAt}
        text={ticket.description || t("tickets.noDescription")}
        kind={ticket.description ? "reply" : "reply faint"}
        label={t("tickets.description")}
      />
      {comments.map((entry) => (
        <Comment key={entry.id} desk={desk} entry={entry} />
      ))}
    </ol>
  );
}

function Comment({ desk, entry }: { desk: Desk; entry: TicketEvent }) {
  const contact = useContact(entry.actor === "contact" ? entry.contactId : 0);
  const author = contact?.name ?? authorOf(desk, entry);
  const kind = entry.internal ? "note" : entry.actor === "contact" ? "contact" : "reply";
  const label = t(`tickets.said.${kind}`);
  return <Said author={author} at={entry.eventTime} text={entry.text ?? ""} kind={kind} label={label} />;
}

interface SaidProps {
  author: string;
  at: string;
  text: string;
  kind: string;
  label: string;
}

function Said({ author, at, text, kind, label }: SaidProps) {
  const instant = Date.parse(at);
  return (
    <li class={`ticket-said ${kind}`}>
      <header>
        <strong translate={false}>{author}</strong>
        <span class="ticket-said-kind">
          {kind === "note" && <Icon name="eye" size={14} />}
          {label}
        </span>
        <time dateTime={at} title={`${dateTime(instant, style.value)} · ${utc(instant)}`}>
          {shortTime(instant, now.value, style.value)}
        </time>
      </header>
      <p>{text}</p>
    </li>
  );
}

/** Who made an entry. */
export function authorOf(desk: Desk, { actor, userId, attributes }: TicketEvent): string {
  if (typeof attributes.userName === "string" && attributes.userName) return attributes.userName;
  if (userId) return personName(desk, userId);
  if (actor === "contact") return t("tickets.contact");
  return t(actor === "device" ? "tickets.device" : "tickets.server");
}
