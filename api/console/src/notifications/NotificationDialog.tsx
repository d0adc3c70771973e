import { useState } from "preact/hooks";
import { get } from "../api/call";
import type { Command, Geofence, Group, Notification, NotificationType, User } from "../api/types";
import { CalendarPicker } from "../calendars/CalendarPicker";
import { savedName } from "../commands/names";
import { alarmName } from "../format/alarms";
import { ALARMS } from "../format/kindTable";
import { hasText, t } from "../i18n/translate";
import { Dialog } from "../parts/Dialog";
import { Check, Field, Select } from "../parts/Field";
import { Picker } from "../parts/Picker";
import { sentenceOf } from "../parts/Problem";
import { toast } from "../parts/Toast";
import { ManyPicker } from "../records/ManyPicker";
import { Conflict, type RefusedField, refusedField, saveRecord } from "../records/records";
import { drop, read, useLoaded } from "../state/responseCache";
import { may, session, style } from "../state/session";
import { vehicleChoices } from "../state/vehicleChoices";
import { channelName, channelsOf, listOf, withChannels } from "./channels";
import { loadLinks, saveLinks } from "./links";
import "./notifications.css";
import { merged } from "../state/edits";
import { OwnWords } from "./OwnWords";
import { TrialCard } from "./TrialCard";
import type { Linked } from "./trial";

const PATH = "/notifications";
const SEVERITIES = ["CRITICAL", "WARNING", "INFO"] as const;
/** Types that are about a zone. */
const OF_ZONES: ReadonlySet<string> = new Set(["geofenceEnter", "geofenceExit", "geofenceCrossed"]);

const BLANK: Notification = {
  id: 0,
  type: "alarm",
  description: null,
  always: true,
  web: true,
  mail: false,
  sms: false,
  notificators: "web",
  calendarId: 0,
  commandId: 0,
  attributes: { severity: "CRITICAL" },
};

/** A type of event in words; one that the page does not know by itself. */
export function eventTypeName(type: string): string {
  const key = `event.type.${type}`;
  return type === "alarm" ? t("event.allAlarms") : hasText(key) ? t(key) : type;
}

interface NotificationDialogProps {
  /** Null for a new one. */
  notification: Notification | null;
  /** Who gets a new one. */
  userId: number;
  onClose: () => void;
  onSaved: () => void;
}

/** A notification with what it is linked to, and what it would have sent. */
export function NotificationDialog(props: NotificationDialogProps) {
  const { notification, userId } = props;
  const links = useLoaded<Linked>(`links ${notification?.id ?? 0}`, (signal) =>
    notification
      ? loadLinks(notification.id, signal)
      : Promise.resolve({ deviceIds: [], groupIds: [], userIds: [userId] }),
  );
  if (!links.value) {
    return (
      <Dialog title={t("notification.edit")} wide onClose={props.onClose}>
        <p role="status">{links.problem === null ? t("common.loading") : sentenceOf(links.problem)}</p>
      </Dialog>
    );
  }
  return <Form {...props} links={links.value} />;
}

function Form({ notification, links, onClose, onSaved }: NotificationDialogProps & { links: Linked }) {
  const [base, setBase] = useState(notification);
  const [value, setValue] = useState<Notification>(notification ?? BLANK);
  const [linked, setLinked] = useState(links);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<RefusedField | null>(null);
  const set = (change: Partial<Notification>) => setValue({ ...value, ...change });
  const setAttribute = (name: string, to: unknown) => {
    const { [name]: _, ...others } = value.attributes;
    set({ attributes: to === undefined || to === "" ? others : { ...others, [name]: to } });
  };

  async function save() {
    setBusy(true);
    setRefused(null);
    try {
      const saved = await saveRecord(PATH, base, value);
      // What fails from here on is tried again on the record that is stored now.
      setBase(saved);
      const own = session.value?.id ?? 0;
      // The server links a new one to who makes it.
      const before = base ? links : { deviceIds: [], groupIds: [], userIds: [own] };
      await saveLinks(saved.id, before, linked);
      drop(PATH);
      toast(t("common.saved"));
      onSaved();
    } catch (problem) {
      if (problem instanceof Conflict && base) {
        const other = problem.theirs as Notification;
        setValue(merged(base, value, other));
        setBase(other);
        const fields = new Intl.ListFormat(style.value.language).format(problem.fields);
        setRefused({ key: "", text: t("record.conflict", { fields }) });
      } else setRefused(refusedField(problem) ?? { key: "", text: sentenceOf(problem) });
      setBusy(false);
    }
  }
  return (
    <Dialog
      title={t(notification ? "notification.edit" : "notification.new")}
      wide
      onClose={onClose}
      actions={
        <button
          type="button"
          class="primary"
          disabled={busy || channelsOf(value).length === 0}
          onClick={() => void save()}
        >
          {t("common.save")}
        </button>
      }
    >
      <div class="notification-form">
        <What value={value} disabled={busy} set={set} setAttribute={setAttribute} />
        <Where value={value} linked={linked} disabled={busy} set={set} setLinked={setLinked} />
        <CalendarPicker
          label={t("notification.calendar")}
          noneLabel={t("notification.atAllTimes")}
          value={value.calendarId}
          disabled={busy}
          onChange={(calendarId) => set({ calendarId })}
        />
        <By value={value} disabled={busy} set={set} setAttribute={setAttribute} />
        <OwnWords value={value} disabled={busy} setAttribute={setAttribute} />
        {may("manageUsers") && <Whom linked={linked} disabled={busy} setLinked={setLinked} />}
        <Field
          label={t("notification.description")}
          value={value.description ?? ""}
          maxLength={128}
          disabled={busy}
          onInput={(event) => set({ description: event.currentTarget.value || null })}
        />
        {refused && (
          <p class="refusal" role="alert">
            {refused.key ? `${refused.key}: ${refused.text}` : refused.text}
          </p>
        )}
        {may("reports") && <TrialCard notification={value} linked={linked} />}
      </div>
    </Dialog>
  );
}

interface PartProps {
  value: Notification;
  disabled: boolean;
  set: (change: Partial<Notification>) => void;
  setAttribute: (name: string, to: unknown) => void;
}

/** Of which events. */
function What({ value, disabled, set, setAttribute }: PartProps) {
  const types = useLoaded("event types", () => read<readonly NotificationType[]>("/notifications/types"));
  const zones = useLoaded("zones", () => read<readonly Geofence[]>("/geofences"));
  const known = (types.value ?? [{ type: value.type }]).map(({ type }) => ({
    id: type,
    name: eventTypeName(type),
  }));
  const { alarms, geofenceIds, severity } = value.attributes;
  return (
    <>
      <div class="form-grid">
        <Picker
          label={t("notification.type")}
          items={known}
          value={value.type}
          disabled={disabled}
          onChange={(type) => {
            if (type === null) return;
            const { alarms: _, geofenceIds: __, ...others } = value.attributes;
            set({ type: String(type), attributes: others });
          }}
        />
        <Select
          label={t("notification.severity")}
          value={typeof severity === "string" ? severity : ""}
          disabled={disabled}
          choices={[
            { value: "", label: t("notification.anySeverity") },
            ...SEVERITIES.map((each) => ({ value: each, label: t(`notification.severity.${each}`) })),
          ]}
          onChange={(each) => setAttribute("severity", each || undefined)}
        />
      </div>
      {value.type === "alarm" && (
        <ManyPicker
          label={t("notification.alarms")}
          items={ALARMS.map((alarm) => ({ id: alarm, name: alarmName(alarm) }))}
          values={listOf(alarms)}
          none={t(severity ? "notification.allAlarms" : "notification.chooseAlarms")}
          disabled={disabled}
          onChange={(list) => setAttribute("alarms", list.join(",") || undefined)}
        />
      )}
      {OF_ZONES.has(value.type) && (
        <ManyPicker
          label={t("notification.zones")}
          items={(zones.value ?? []).map(({ id, name }) => ({ id: String(id), name }))}
          values={listOf(geofenceIds)}
          none={t("notification.allZones")}
          disabled={disabled}
          onChange={(list) => setAttribute("geofenceIds", list.join(",") || undefined)}
        />
      )}
    </>
  );
}

interface WhereProps {
  value: Notification;
  linked: Linked;
  disabled: boolean;
  set: (change: Partial<Notification>) => void;
  setLinked: (linked: Linked) => void;
}

/** For which vehicles. */
function Where({ value, linked, disabled, set, setLinked }: WhereProps) {
  const groups = useLoaded("groups", () => read<readonly Group[]>("/groups")).value ?? [];
  return (
    <>
      <Check
        label={t("notification.always")}
        hint={t("notification.alwaysHint")}
        checked={value.always}
        disabled={disabled}
        onChange={(always) => set({ always })}
      />
      {!value.always && (
        <div class="form-grid">
          <ManyPicker
            label={t("notification.groups")}
            items={groups.map(({ id, name }) => ({ id, name }))}
            values={linked.groupIds}
            none={t("common.none")}
            disabled={disabled}
            onChange={(groupIds) => setLinked({ ...linked, groupIds })}
          />
          <ManyPicker
            label={t("notification.vehicles")}
            items={vehicleChoices(linked.deviceIds)}
            values={linked.deviceIds}
            none={t("common.none")}
            disabled={disabled}
            onChange={(deviceIds) => setLinked({ ...linked, deviceIds })}
          />
        </div>
      )}
    </>
  );
}

/** By which ways. */
function By({ value, disabled, set, setAttribute }: PartProps) {
  const offered = useLoaded("notificators", (signal) =>
    get<readonly NotificationType[]>("/notifications/notificators", undefined, signal),
  );
  const commands = useLoaded("saved commands", () => read<readonly Command[]>("/commands"));
  const chosen = channelsOf(value);
  const names = [...new Set([...(offered.value ?? []).map(({ type }) => type), ...chosen])];
  return (
    <>
      <fieldset class="chips">
        <legend>{t("notification.channels")}</legend>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            class="chip"
            aria-pressed={chosen.includes(name)}
            disabled={disabled}
            onClick={() =>
              set(
                withChannels(
                  value,
                  chosen.includes(name) ? chosen.filter((each) => each !== name) : [...chosen, name],
                ),
              )
            }
          >
            {channelName(name)}
          </button>
        ))}
      </fieldset>
      {chosen.includes("command") && (
        <Picker
          label={t("notification.command")}
          items={(commands.value ?? []).map((each) => ({ id: each.id, name: savedName(each) }))}
          value={value.commandId || null}
          disabled={disabled}
          onChange={(id) => set({ commandId: Number(id ?? 0) })}
        />
      )}
      {chosen.includes("mail") && (
        <Check
          label={t("notification.important")}
          checked={value.attributes.priority === true}
          disabled={disabled}
          onChange={(important) => setAttribute("priority", important || undefined)}
        />
      )}
    </>
  );
}

interface WhomProps {
  linked: Linked;
  disabled: boolean;
  setLinked: (linked: Linked) => void;
}

function Whom({ linked, disabled, setLinked }: WhomProps) {
  const users = usePeople();
  return (
    <ManyPicker
      label={t("notification.people")}
      items={users.map((user) => ({ id: user.id, name: personName(user), note: user.email }))}
      values={linked.userIds}
      none={t("notification.nobody")}
      disabled={disabled}
      onChange={(userIds) => setLinked({ ...linked, userIds })}
    />
  );
}

/** Whom the reader manages, and the reader. */
export function usePeople(): readonly User[] {
  const found = useLoaded("people", () =>
    may("manageUsers") ? read<readonly User[]>("/users") : Promise.resolve([]),
  );
  const own = session.value;
  const others = (found.value ?? []).filter(({ id, temporary }) => id !== own?.id && !temporary);
  return own ? [own, ...others] : others;
}

/** What a person is called. */
export function personName({ id, name, email }: Pick<User, "id" | "name" | "email">): string {
  const shown = name || email;
  return id === session.value?.id ? t("notification.you", { name: shown }) : shown;
}
