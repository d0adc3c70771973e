import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { post } from "../../api/call";
import type { Calendar, Company, Geofence, Group, Maintenance, RuleTrial } from "../../api/types";
import { dayTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Dialog } from "../../parts/Dialog";
import { Check, Field, Select } from "../../parts/Field";
import { Picker } from "../../parts/Picker";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { useDraft } from "../../records/drafts";
import { ManyPicker } from "../../records/ManyPicker";
import { type RefusedField, refusedField } from "../../records/records";
import { deviceIds, deviceNow } from "../../state/fleet";
import { read, useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { vehicleChoices } from "../../state/vehicleChoices";
import { kindChoices, kindName } from "../events/kinds";
import { NumberField } from "../zones/NumberField";
import { MinutesField } from "./MinutesField";
import type { OfCompany } from "./Rules";
import { saveRules } from "./Rules";
import {
  fieldOfRule,
  mixesAlarms,
  type Rule,
  ruleKinds,
  SEVERITIES,
  withKinds,
  withRule,
  withTicket,
} from "./rule";

const MOST_PER_HOUR = 1000;
const MOST_SECONDS = 300;
const LONGEST_SUBJECT = 255;
const CHANNELS = 31;
const FIRST_CAPTURE = { channel: 1, beforeSeconds: 20, afterSeconds: 20, live: false };

interface RuleDialogProps {
  company: Company;
  stored: Rule;
  of: OfCompany;
  onClose: () => void;
  onSaved: () => void;
}

/** A rule: which events, what ticket they become, and what that would have been in the last week. */
export function RuleDialog({ company, stored, of, onClose, onSaved }: RuleDialogProps) {
  const id = useId();
  const draft = useDraft<Rule>(`rule ${company.id} ${stored.id}`, stored);
  const rule = draft.value;
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<RefusedField | null>(null);
  const shown = new Set<string>();
  const errorOf = (key: string) => {
    shown.add(key);
    return refused?.key === key ? refused.text : undefined;
  };
  const refuse = (problem: unknown) => {
    const field = refusedField(problem);
    setRefused(field ? { ...field, key: fieldOfRule(field.key) } : { key: "", text: sentenceOf(problem) });
  };
  const setWhen = (change: Partial<Rule["when"]>) => draft.set({ when: { ...rule.when, ...change } });
  const setThen = (change: Partial<Rule["then"]>) => draft.set(withTicket(rule, change));

  async function save(event: SubmitEvent) {
    event.preventDefault();
    if (busy) return;
    if (rule.name.trim() === "") return setRefused({ key: "name", text: t("helpdesk.ruleNeedsName") });
    setBusy(true);
    setRefused(null);
    try {
      await saveRules(company.id, (now) => withRule(now, rule));
      draft.clear();
      toast(t("common.saved"));
      onSaved();
    } catch (problem) {
      refuse(problem);
    } finally {
      setBusy(false);
    }
  }
  const named = ({ id, name }: { id: number; name: string }) => ({ id, name });
  const usable = <T extends { id: number; name: string; disabled: boolean }>(all: readonly T[]) =>
    all.filter(({ disabled }) => !disabled).map(named);
  return (
    <Dialog
      title={stored.id ? stored.name : t("helpdesk.newRule")}
      wide
      onClose={onClose}
      actions={
        <button type="submit" form={id} class="primary" disabled={busy}>
          {t("common.save")}
        </button>
      }
    >
      <form id={id} class="record-form" noValidate onSubmit={(event) => void save(event)}>
        {draft.wasKept && (
          <p class="record-kept" role="status">
            {t("record.kept")}{" "}
            <button type="button" class="link" onClick={draft.clear}>
              {t("record.dropKept")}
            </button>
          </p>
        )}
        <Field
          label={t("record.name")}
          value={rule.name}
          maxLength={LONGEST_SUBJECT}
          autofocus
          disabled={busy}
          error={errorOf("name")}
          onInput={(event) => draft.set({ name: event.currentTarget.value })}
        />
        <Fields title={t("helpdesk.when")}>
          <ManyPicker<string>
            label={t("helpdesk.events")}
            items={kindChoices()}
            values={ruleKinds(rule)}
            none={t("helpdesk.chooseEvents")}
            error={errorOf("when.eventTypes") ?? (mixesAlarms(rule) ? t("helpdesk.mixed") : undefined)}
            disabled={busy}
            onChange={(kinds) => draft.set({ when: withKinds(rule, kinds).when })}
          />
          <Select
            label={t("helpdesk.severity")}
            value={rule.when.severity ?? ""}
            choices={["", ...SEVERITIES].map((value) => ({
              value,
              label: t(value ? `helpdesk.severity.${value as (typeof SEVERITIES)[number]}` : "helpdesk.any"),
            }))}
            disabled={busy}
            onChange={(severity) => setWhen({ severity: (severity || null) as Rule["when"]["severity"] })}
          />
          <Where rule={rule} disabled={busy} onChange={setWhen} />
        </Fields>
        <Fields title={t("helpdesk.then")}>
          <Picker
            label={t("helpdesk.category")}
            items={usable(of.categories)}
            value={rule.then.categoryId || null}
            noneLabel={t("common.none")}
            disabled={busy}
            onChange={(chosen) => setThen({ categoryId: Number(chosen ?? 0) })}
          />
          <Picker
            label={t("helpdesk.priority")}
            items={usable(of.priorities)}
            value={rule.then.priorityId || null}
            noneLabel={t("helpdesk.ofCategory")}
            disabled={busy}
            onChange={(chosen) => setThen({ priorityId: Number(chosen ?? 0) })}
          />
          <Picker
            label={t("helpdesk.team")}
            items={usable(of.teams)}
            value={rule.then.teamId || null}
            noneLabel={t("helpdesk.ofCategory")}
            disabled={busy}
            onChange={(chosen) => setThen({ teamId: Number(chosen ?? 0) })}
          />
          <Field
            label={t("helpdesk.subject")}
            hint={t("helpdesk.preview", { subject: previewOf(rule) })}
            value={rule.then.subject}
            maxLength={LONGEST_SUBJECT}
            placeholder={t("helpdesk.ownSubject")}
            disabled={busy}
            error={errorOf("then.subject")}
            onInput={(event) => setThen({ subject: event.currentTarget.value })}
          />
        </Fields>
        <Fields title={t("helpdesk.notTooMany")}>
          <MinutesField
            label={t("helpdesk.dedupe")}
            value={rule.dedupeMinutes}
            none="0"
            error={errorOf("dedupeMinutes")}
            disabled={busy}
            onChange={(dedupeMinutes) => draft.set({ dedupeMinutes })}
          />
          <NumberField
            label={t("helpdesk.maxPerHour")}
            value={rule.maxPerHour}
            least={1}
            most={MOST_PER_HOUR}
            disabled={busy}
            onChange={(most) => draft.set({ maxPerHour: Math.round(most ?? 1) })}
          />
        </Fields>
        <Check
          label={t("helpdesk.commentWhenOver")}
          checked={rule.commentWhenOver}
          disabled={busy}
          onChange={(commentWhenOver) => draft.set({ commentWhenOver })}
        />
        <Video rule={rule} disabled={busy} onChange={(capture) => draft.set({ capture })} />
        {refused && !shown.has(refused.key) && (
          <p class="refusal" role="alert">
            {refused.key ? `${refused.key}: ${refused.text}` : refused.text}
          </p>
        )}
        <Trial companyId={company.id} rule={rule} onRefused={refuse} onTried={() => setRefused(null)} />
      </form>
    </Dialog>
  );
}

/** What the subject will be, with the first vehicle that it may be about. */
function previewOf(rule: Rule): string {
  if (rule.then.subject) return rule.then.subject;
  const [deviceId] = rule.when.deviceIds.length > 0 ? rule.when.deviceIds : deviceIds.peek();
  const name = deviceNow(deviceId ?? 0)?.name ?? t("helpdesk.someVehicle");
  const [kind] = ruleKinds(rule);
  return `${kind ? kindName(kind) : "…"}: ${name}`;
}

function Fields({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <fieldset class="helpdesk-fieldset">
      <legend>{title}</legend>
      <div class="form-grid">{children}</div>
    </fieldset>
  );
}

interface WhereProps {
  rule: Rule;
  disabled: boolean;
  onChange: (change: Partial<Rule["when"]>) => void;
}

/** Vehicles, groups, zones and times that a rule is limited to. */
function Where({ rule, disabled, onChange }: WhereProps) {
  const bare = { excludeAttributes: true };
  const groups = useLoaded("groups", () => read<Group[]>("/groups", bare)).value ?? [];
  const zones = useLoaded("zones", () => read<Geofence[]>("/geofences", bare)).value ?? [];
  const calendars = useLoaded("bare calendars", () => read<Calendar[]>("/calendars", bare)).value ?? [];
  const named = ({ id, name }: { id: number; name: string }) => ({ id, name });
  const { when } = rule;
  return (
    <>
      <ManyPicker<number>
        label={t("helpdesk.vehicles")}
        items={vehicleChoices(rule.when.deviceIds)}
        values={when.deviceIds}
        none={t("helpdesk.allVehicles")}
        disabled={disabled}
        onChange={(ids) => onChange({ deviceIds: ids })}
      />
      {groups.length + when.groupIds.length > 0 && (
        <ManyPicker<number>
          label={t("helpdesk.groups")}
          items={groups.map(named)}
          values={when.groupIds}
          none={t("helpdesk.allVehicles")}
          disabled={disabled}
          onChange={(ids) => onChange({ groupIds: ids })}
        />
      )}
      {zones.length + when.geofenceIds.length > 0 && (
        <ManyPicker<number>
          label={t("helpdesk.zones")}
          items={zones.map(named)}
          values={when.geofenceIds}
          none={t("helpdesk.everywhere")}
          disabled={disabled}
          onChange={(ids) => onChange({ geofenceIds: ids })}
        />
      )}
      {when.eventTypes.includes("maintenance") && (
        <OfMaintenance ids={when.maintenanceIds} disabled={disabled} onChange={onChange} />
      )}
      {calendars.length > 0 && (
        <Picker
          label={t("helpdesk.within")}
          items={calendars.map(named)}
          value={when.calendarId || null}
          noneLabel={t("helpdesk.anyTime")}
          disabled={disabled}
          onChange={(id) => onChange({ calendarId: Number(id ?? 0) })}
        />
      )}
    </>
  );
}

interface OfMaintenanceProps {
  ids: readonly number[];
  disabled: boolean;
  onChange: (change: Partial<Rule["when"]>) => void;
}

function OfMaintenance({ ids, disabled, onChange }: OfMaintenanceProps) {
  const found = useLoaded("maintenance", () =>
    read<Maintenance[]>("/maintenance", { excludeAttributes: true }),
  ).value;
  return (
    <ManyPicker<number>
      label={t("helpdesk.maintenance")}
      items={(found ?? []).map(({ id, name }) => ({ id, name }))}
      values={ids}
      none={t("helpdesk.any")}
      disabled={disabled}
      onChange={(maintenanceIds) => onChange({ maintenanceIds })}
    />
  );
}

interface VideoProps {
  rule: Rule;
  disabled: boolean;
  onChange: (capture: Rule["capture"]) => void;
}

/** The video that a ticket gets. */
function Video({ rule: { capture }, disabled, onChange }: VideoProps) {
  const set = (change: Partial<NonNullable<Rule["capture"]>>) =>
    capture && onChange({ ...capture, ...change });
  return (
    <>
      <Check
        label={t("helpdesk.withVideo")}
        checked={capture !== null}
        disabled={disabled}
        onChange={(wanted) => onChange(wanted ? FIRST_CAPTURE : null)}
      />
      {capture && (
        <Fields title={t("helpdesk.video")}>
          <NumberField
            label={t("helpdesk.camera")}
            value={capture.channel}
            least={1}
            most={CHANNELS}
            disabled={disabled}
            onChange={(channel) => set({ channel: Math.round(channel ?? 1) })}
          />
          <Select
            label={t("helpdesk.videoFrom")}
            value={capture.live ? "live" : "recorded"}
            choices={[
              { value: "recorded", label: t("helpdesk.recorded") },
              { value: "live", label: t("helpdesk.liveVideo") },
            ]}
            disabled={disabled}
            onChange={(from) => set(from === "live" ? { live: true, beforeSeconds: 0 } : { live: false })}
          />
          {!capture.live && (
            <NumberField
              label={t("helpdesk.secondsBefore")}
              value={capture.beforeSeconds}
              least={0}
              most={MOST_SECONDS}
              disabled={disabled}
              onChange={(seconds) => set({ beforeSeconds: Math.round(seconds ?? 0) })}
            />
          )}
          <NumberField
            label={t("helpdesk.secondsAfter")}
            value={capture.afterSeconds}
            least={0}
            most={MOST_SECONDS}
            disabled={disabled}
            onChange={(seconds) => set({ afterSeconds: Math.round(seconds ?? 0) })}
          />
        </Fields>
      )}
    </>
  );
}

interface TrialProps {
  companyId: number;
  rule: Rule;
  onRefused: (problem: unknown) => void;
  onTried: () => void;
}

/** What the rule would have made of the last week, before it is saved. */
function Trial({ companyId, rule, onRefused, onTried }: TrialProps) {
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState<{ of: string; trial: RuleTrial } | null>(null);
  const now = JSON.stringify({ ...rule, name: "" });
  const run = async () => {
    setBusy(true);
    try {
      const trial = await post<RuleTrial>(`/companies/${companyId}/ticketrules/trial`, rule);
      setTried({ of: now, trial });
      onTried();
    } catch (problem) {
      onRefused(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="helpdesk-trial" aria-label={t("helpdesk.trial")}>
      <button type="button" disabled={busy} onClick={() => void run()}>
        {t("helpdesk.tryIt")}
      </button>
      <div role="status">
        {tried && tried.of !== now && <p class="field-hint">{t("helpdesk.trialOld")}</p>}
        {tried && <TrialResult trial={tried.trial} />}
      </div>
    </section>
  );
}

function TrialResult({ trial }: { trial: RuleTrial }) {
  const { tickets, events, muted, newest } = trial;
  return (
    <>
      <p>
        <strong>{t("helpdesk.wouldHave", { count: tickets })}</strong>{" "}
        {events > tickets && t("helpdesk.ofEvents", { count: events })}{" "}
        {muted > 0 && t("helpdesk.muted", { count: muted })}
      </p>
      {newest.length > 0 && (
        <ul class="record-rows">
          {newest.map(({ eventId, eventTime, deviceId, subject, events: joined }) => (
            <li key={eventId}>
              <div>
                <Link to={`/events/${eventId}`}>{subject}</Link>
                <p>
                  {dayTime(Date.parse(eventTime), style.value)}
                  {` · ${deviceNow(deviceId)?.name ?? ""}`}
                  {joined > 1 && ` · ${t("helpdesk.joined", { count: joined })}`}
                </p>
              </div>
            </li>
          ))}
        </ul>
      )}
      {tickets > newest.length && (
        <p class="field-hint">{t("helpdesk.newestOf", { shown: newest.length, total: tickets })}</p>
      )}
    </>
  );
}
