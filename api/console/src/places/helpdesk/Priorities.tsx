import { useState } from "preact/hooks";
import type { Calendar, Company, Team, TicketPriority } from "../../api/types";
import { CalendarDialog } from "../../calendars/CalendarDialog";
import { CalendarPicker, readIn } from "../../calendars/CalendarPicker";
import { WeekPicture } from "../../calendars/DaysPicture";
import { zoneOf as zoneOfCalendar } from "../../calendars/zoneOf";
import { compareNames, t } from "../../i18n/translate";
import { Check } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Picker } from "../../parts/Picker";
import { Problem } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { EditButtons } from "../../records/EditButtons";
import { NameField } from "../../records/EditFields";
import { type Edit, RecordDialog } from "../../records/RecordDialog";
import { ArchivedCheck } from "../../records/RecordList";
import { deleteRecord } from "../../records/records";
import { read, useLoaded } from "../../state/responseCache";
import { server, style } from "../../state/session";
import { NumberField } from "../zones/NumberField";
import type { SectionProps } from "./CompanyPlace";
import { MinutesField } from "./MinutesField";
import { minutesText } from "./minutes";
import { useRecords } from "./records";
import { StandardSetup } from "./StandardSetup";

const PATH = "/ticketpriorities";
/** Percent of a target at which the server warns, unless a priority says otherwise. */
const WARN_PERCENT = 80;
const MOST_LEVEL = 1000;

/** How urgent tickets are: their targets, and the business hours in which these are counted. */
export function Priorities({ company, mayEdit }: SectionProps) {
  const { value, problem, reload } = useRecords<TicketPriority>(PATH, company.id);
  const teams = useRecords<Team>("/teams", company.id).value ?? [];
  const calendars = useLoaded("calendars", () => read<Calendar[]>("/calendars"));
  const [edited, setEdited] = useState<TicketPriority | null>(null);
  const [deleting, setDeleting] = useState<TicketPriority | null>(null);
  const [hours, setHours] = useState<Calendar | null>(null);
  const sorted = [...(value ?? [])].sort(
    (one, other) => one.level - other.level || compareNames(one.name, other.name),
  );
  const zone = zoneOf(company);
  const blank: TicketPriority = {
    id: 0,
    companyId: company.id,
    name: "",
    level: (sorted.at(-1)?.level ?? 0) + 1,
    firstResponseMinutes: 0,
    resolutionMinutes: 0,
    calendarId: sorted[0]?.calendarId ?? 0,
    disabled: false,
    attributes: {},
  };
  const used = [...new Set(sorted.map(({ calendarId }) => calendarId))];
  return (
    <>
      <section class="card" aria-label={t("helpdesk.priorities")}>
        <header class="page-head">
          <h2>{t("helpdesk.priorities")}</h2>
          {mayEdit && sorted.length > 0 && (
            <button type="button" onClick={() => setEdited(blank)}>
              <Icon name="plus" size={16} />
              {t("helpdesk.newPriority")}
            </button>
          )}
        </header>
        {problem !== null && <Problem problem={problem} onRetry={reload} />}
        {!value && problem === null && <Skeleton label={t("common.loading")} lines={4} />}
        {value?.length === 0 && (
          <StandardSetup
            companyId={company.id}
            mayEdit={mayEdit}
            title={t("helpdesk.noPriorities")}
            text={t("helpdesk.noPrioritiesText")}
            onDone={reload}
          />
        )}
        <ul class="record-rows">
          {sorted.map((priority) => (
            <li key={priority.id} class={priority.disabled ? "archived" : ""}>
              <div>
                <strong>{priority.name}</strong>
                <small>
                  {t("helpdesk.level", { number: priority.level })}
                  {priority.disabled && ` · ${t("record.archived")}`}
                </small>
                <p>{targetsText(priority)}</p>
                <p>{escalationText(priority, teams, sorted)}</p>
              </div>
              {mayEdit && (
                <div class="button-row">
                  <EditButtons
                    name={priority.name}
                    onEdit={() => setEdited(priority)}
                    onDelete={() => setDeleting(priority)}
                  />
                </div>
              )}
            </li>
          ))}
        </ul>
      </section>
      {sorted.length > 0 && (
        <section class="card" aria-label={t("helpdesk.businessHours")}>
          <h2>{t("helpdesk.businessHours")}</h2>
          {calendars.value &&
            used.map((id) => {
              const calendar = calendars.value?.find((each) => each.id === id) ?? null;
              const names = sorted.filter(({ calendarId }) => calendarId === id).map(({ name }) => name);
              const title = id === 0 ? t("helpdesk.always") : (calendar?.name ?? t("helpdesk.hiddenHours"));
              return (
                <div key={id} class="helpdesk-hours">
                  <header class="page-head">
                    <div>
                      <h3>{title}</h3>
                      <small>
                        {t("helpdesk.countsFor", {
                          names: new Intl.ListFormat(style.value.language).format(names),
                        })}
                      </small>
                    </div>
                    {mayEdit && calendar && (
                      <EditButtons name={calendar.name} onEdit={() => setHours(calendar)} />
                    )}
                  </header>
                  {(calendar || id === 0) && (
                    <WeekPicture
                      label={title}
                      calendar={calendar && readIn(calendar, zone)}
                      zone={calendar ? zoneOfCalendar(calendar, zone) : zone}
                    />
                  )}
                </div>
              );
            })}
        </section>
      )}
      {edited && (
        <RecordDialog
          title={edited.id ? edited.name : t("helpdesk.newPriority")}
          path={PATH}
          stored={edited.id ? edited : null}
          blank={blank}
          wide
          onClose={() => setEdited(null)}
          onSaved={() => {
            setEdited(null);
            reload();
          }}
        >
          {(edit) => (
            <PriorityFields
              edit={edit}
              company={company}
              others={sorted.filter(({ id, disabled }) => id !== edit.value.id && !disabled)}
              teams={teams.filter(({ disabled }) => !disabled)}
              calendars={calendars.value ?? []}
              onCalendars={calendars.reload}
            />
          )}
        </RecordDialog>
      )}
      {hours && (
        <CalendarDialog
          calendar={hours}
          title={t("helpdesk.editHours")}
          onClose={() => setHours(null)}
          onSaved={() => {
            setHours(null);
            calendars.reload();
          }}
        />
      )}
      {deleting && (
        <Question
          title={t("record.deleteTitle", { name: deleting.name })}
          text={t("helpdesk.deletePriorityText")}
          act={t("common.delete")}
          run={async () => {
            await deleteRecord(PATH, deleting.id);
            reload();
          }}
          onClose={() => setDeleting(null)}
        />
      )}
    </>
  );
}

/** The zone in which hours of a company are read, as the server does, and shown. */
export function zoneOf(company: Company): string {
  const own = company.attributes.timezone ?? server.value?.attributes.timezone;
  return typeof own === "string" && own ? own : style.value.zone;
}

function targetsText({ firstResponseMinutes, resolutionMinutes }: TicketPriority): string {
  const span = (minutes: number) => minutesText(minutes, style.value.language);
  return [
    firstResponseMinutes > 0 && t("helpdesk.answeredIn", { span: span(firstResponseMinutes) }),
    resolutionMinutes > 0 && t("helpdesk.resolvedIn", { span: span(resolutionMinutes) }),
    firstResponseMinutes + resolutionMinutes === 0 && t("helpdesk.noTargets"),
  ]
    .filter(Boolean)
    .join(" · ");
}

function escalationText(
  { attributes }: TicketPriority,
  teams: readonly Team[],
  priorities: readonly TicketPriority[],
): string {
  const team = teams.find(({ id }) => id === attributes.escalateTeamId)?.name;
  const priority = priorities.find(({ id }) => id === attributes.escalatePriorityId)?.name;
  const goal = [team, priority].filter(Boolean).join(", ");
  return goal && t("helpdesk.escalatesTo", { goal });
}

interface PriorityFieldsProps {
  edit: Edit<TicketPriority>;
  company: Company;
  others: readonly TicketPriority[];
  teams: readonly Team[];
  calendars: readonly Calendar[];
  onCalendars: () => void;
}

function PriorityFields({ edit, company, others, teams, calendars, onCalendars }: PriorityFieldsProps) {
  const { value, set, setAttribute, errorOf, disabled } = edit;
  const number = (name: string) => {
    const found = value.attributes[name];
    return typeof found === "number" ? found : null;
  };
  const reference = (name: string) => number(name) || null;
  const setReference = (name: string) => (id: string | number | null) =>
    setAttribute(name, id === null ? undefined : Number(id));
  const named = ({ id, name }: { id: number; name: string }) => ({ id, name });
  return (
    <>
      <div class="form-grid">
        <NameField edit={edit} />
        <NumberField
          label={t("helpdesk.levelLabel")}
          value={value.level}
          least={1}
          most={MOST_LEVEL}
          disabled={disabled}
          onChange={(level) => set({ level: Math.round(level ?? 1) })}
        />
        <MinutesField
          label={t("helpdesk.firstResponse")}
          value={value.firstResponseMinutes}
          none={t("helpdesk.noTarget")}
          error={errorOf("firstResponseMinutes")}
          disabled={disabled}
          onChange={(firstResponseMinutes) => set({ firstResponseMinutes })}
        />
        <MinutesField
          label={t("helpdesk.resolution")}
          value={value.resolutionMinutes}
          none={t("helpdesk.noTarget")}
          error={errorOf("resolutionMinutes")}
          disabled={disabled}
          onChange={(resolutionMinutes) => set({ resolutionMinutes })}
        />
        <Picker
          label={t("helpdesk.holidays")}
          items={calendars.map(named)}
          value={reference("holidayCalendarId")}
          noneLabel={t("common.none")}
          disabled={disabled}
          onChange={setReference("holidayCalendarId")}
        />
      </div>
      <CalendarPicker
        label={t("helpdesk.businessHours")}
        value={value.calendarId}
        noneLabel={t("helpdesk.always")}
        name={t("helpdesk.hoursOf", { name: company.name })}
        zone={zoneOf(company)}
        error={errorOf("calendarId")}
        disabled={disabled}
        onChange={(calendarId) => {
          set({ calendarId });
          onCalendars();
        }}
      />
      <fieldset class="helpdesk-fieldset">
        <legend>{t("helpdesk.whenBreached")}</legend>
        <div class="form-grid">
          <Picker
            label={t("helpdesk.escalateTeam")}
            items={teams.map(named)}
            value={reference("escalateTeamId")}
            noneLabel={t("helpdesk.staysThere")}
            disabled={disabled}
            onChange={setReference("escalateTeamId")}
          />
          <Picker
            label={t("helpdesk.escalatePriority")}
            items={others.map(named)}
            value={reference("escalatePriorityId")}
            noneLabel={t("helpdesk.staysSo")}
            disabled={disabled}
            onChange={setReference("escalatePriorityId")}
          />
          <NumberField
            label={t("helpdesk.warnPercent")}
            value={number("warnPercent")}
            least={0}
            most={100}
            optional
            placeholder={String(WARN_PERCENT)}
            disabled={disabled}
            onChange={(percent) => setAttribute("warnPercent", percent ?? undefined)}
          />
          <MinutesField
            label={t("helpdesk.maxPause")}
            value={number("maxPauseMinutes") ?? 0}
            none={t("helpdesk.noLimit")}
            error={errorOf("attributes.maxPauseMinutes")}
            disabled={disabled}
            onChange={(minutes) => setAttribute("maxPauseMinutes", minutes || undefined)}
          />
        </div>
        <Check
          label={t("helpdesk.pauseFirstResponse")}
          checked={value.attributes.pauseFirstResponse === true}
          disabled={disabled}
          onChange={(pauses) => setAttribute("pauseFirstResponse", pauses || undefined)}
        />
        {value.id > 0 && <ArchivedCheck edit={edit} hint={t("record.archivedHint")} />}
      </fieldset>
    </>
  );
}
