import type { ComponentChildren } from "preact";
import type { Ticket, TicketEvent } from "../../api/types";
import { dateTime, shortTime, utc } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { device, position } from "../../state/fleet";
import { may, style } from "../../state/session";
import { now } from "../../time/clock";
import { Whereabouts } from "../live/Whereabouts";
import { historyAt, vehicleActs } from "../vehicle/acts";
import { StatusMark } from "../vehicle/StatusMark";
import { Clocks } from "./Clock";
import { CommandsSent } from "./CommandsSent";
import { type Desk, personName } from "./company";
import { useContact } from "./contacts";
import { Evidence } from "./Evidence";
import { History } from "./History";
import { useServiceLevels } from "./serviceLevels";
import type { Acts, What } from "./useActs";
import { VehiclePicture } from "./VehiclePicture";
import { fieldName, valueName } from "./words";

interface FactsProps {
  desk: Desk;
  ticket: Ticket;
  entries: readonly TicketEvent[];
  acts: Acts;
  onEvidence: () => void;
  onEscalate: () => void;
  onCommand: () => void;
}

/** What is known of a ticket besides what was said. */
export function Facts({ desk, ticket, entries, acts, onEvidence, onEscalate, onCommand }: FactsProps) {
  const view = useServiceLevels(ticket).value;
  return (
    <aside class="ticket-facts" aria-label={t("tickets.facts")}>
      <Part title={t("tickets.clocks")}>
        {view && <Clocks view={view} />}
        {ticket.escalatedAt && (
          <p class="ticket-escalated">
            <Icon name="warning" size={16} />
            {t("tickets.escalatedAt", { at: dateTime(Date.parse(ticket.escalatedAt), style.value) })}
          </p>
        )}
      </Part>
      <Part title={t("tickets.handling")}>
        <dl class="ticket-fields">
          <Changeable desk={desk} ticket={ticket} name="assigneeId" what="give" acts={acts} />
          <Changeable desk={desk} ticket={ticket} name="teamId" what="team" acts={acts} />
          <Changeable desk={desk} ticket={ticket} name="priorityId" what="priority" acts={acts} />
          <Changeable desk={desk} ticket={ticket} name="categoryId" what="category" acts={acts} />
          <Field name={t("tickets.reporter")}>
            {personName(desk, ticket.reporterId) || t("tickets.server")}
          </Field>
          <Field name={t("tickets.createdAt")}>
            <Time at={ticket.createdAt} />
          </Field>
        </dl>
        {desk.handles && (
          <button type="button" onClick={onEscalate}>
            <Icon name="warning" size={18} />
            {t("tickets.escalate")}
          </button>
        )}
      </Part>
      {ticket.contactId !== 0 && <ContactPart id={ticket.contactId} />}
      {ticket.deviceId !== 0 && <VehiclePart ticket={ticket} />}
      <Part title={t("tickets.evidence")}>
        <Evidence desk={desk} ticket={ticket} entries={entries} />
        {desk.handles && may("reports") && (
          <button type="button" onClick={onEvidence}>
            <Icon name="plus" size={18} />
            {t("tickets.addEvidence")}
          </button>
        )}
      </Part>
      {ticket.deviceId !== 0 && (
        <Part title={t("tickets.commands")}>
          <CommandsSent desk={desk} entries={entries} />
          {desk.handles && (
            <button type="button" onClick={onCommand}>
              <Icon name="command" size={18} />
              {t("keys.command")}
            </button>
          )}
        </Part>
      )}
      <History desk={desk} entries={entries} />
    </aside>
  );
}

export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="ticket-part" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Field({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface ChangeableProps {
  desk: Desk;
  ticket: Ticket;
  name: "assigneeId" | "teamId" | "priorityId" | "categoryId";
  what: What;
  acts: Acts;
}

function Changeable({ desk, ticket, name, what, acts }: ChangeableProps) {
  const value = valueName(desk, name, ticket[name]);
  return (
    <Field name={fieldName(name)}>
      {desk.handles ? (
        <button
          type="button"
          class="ticket-value"
          title={t(`tickets.choose.${what}`)}
          onClick={() => acts.choose(what, [ticket])}
        >
          {value}
          <Icon name="down" size={14} />
        </button>
      ) : (
        value
      )}
    </Field>
  );
}

function Time({ at }: { at: string }) {
  const instant = Date.parse(at);
  return (
    <time dateTime={at} title={`${dateTime(instant, style.value)} · ${utc(instant)}`}>
      {shortTime(instant, now.value, style.value)}
    </time>
  );
}

function ContactPart({ id }: { id: number }) {
  const contact = useContact(id);
  if (!contact) return null;
  return (
    <Part title={t("tickets.contact")}>
      <p>
        <strong translate={false}>{contact.name}</strong>
      </p>
      {contact.phone && <a href={`tel:${contact.phone}`}>{contact.phone}</a>}
      {contact.email && <a href={`mailto:${contact.email}`}>{contact.email}</a>}
    </Part>
  );
}

/** The vehicle as it is now, and where it can be seen. */
function VehiclePart({ ticket }: { ticket: Ticket }) {
  const id = ticket.deviceId;
  const found = device(id).value;
  const at = position(id).value;
  return (
    <Part title={t("event.vehicle")}>
      <p class="ticket-vehicle-line">
        {found ? (
          <>
            <Link to={`/vehicles/${id}`}>{found.name}</Link>
            <StatusMark of={found} at={at} />
          </>
        ) : (
          t("event.number", { id })
        )}
      </p>
      {at && <Whereabouts deviceId={id} />}
      {found && <VehiclePicture id={id} />}
      {found && (
        <span class="ticket-links">
          {vehicleActs()
            .filter(({ key }) => key === "live" || key === "history")
            .map((act) => (
              <Link
                key={act.key}
                class="button"
                to={act.key === "history" ? historyAt(id, Date.parse(ticket.createdAt)) : act.to(id)}
              >
                <Icon name={act.icon} size={18} />
                {t(act.label)}
              </Link>
            ))}
          {ticket.eventId !== 0 && may("reports") && (
            <Link class="button" to={`/events/${ticket.eventId}`}>
              <Icon name="events" size={18} />
              {t("tickets.event")}
            </Link>
          )}
        </span>
      )}
    </Part>
  );
}
