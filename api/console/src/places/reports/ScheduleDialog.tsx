import { useEffect, useState } from "preact/hooks";
import type { ScheduledReport, User } from "../../api/types";
import { CalendarPicker } from "../../calendars/CalendarPicker";
import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { Check, Field, Select } from "../../parts/Field";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { ManyPicker } from "../../records/ManyPicker";
import { read, useLoaded } from "../../state/responseCache";
import { may, style } from "../../state/session";
import { vehicleChoices } from "../../state/vehicleChoices";
import { useZones } from "../../state/zones";
import { isKind, KIND_NAMES, kindOf } from "./kinds";
import { useGroups } from "./ReportBar";
import { BLANK, type Links, linksOf, NO_LINKS, PRESETS, type Preset, saveScheduled } from "./scheduled";

interface ScheduleDialogProps {
  /** Null for a new one. */
  stored: ScheduledReport | null;
  onClose: () => void;
  onSaved: () => void;
}

const KINDS = KIND_NAMES.filter((name) => name !== "devices");
/** In place of a preset: a calendar that is chosen or made. */
const OF_CALENDAR = "calendar";

/** Which report, of whom, when, and for whom. */
export function ScheduleDialog({ stored, onClose, onSaved }: ScheduleDialogProps) {
  const [record, setRecord] = useState<ScheduledReport>(stored ?? BLANK);
  const [calendar, setCalendar] = useState<number | Preset>(stored?.calendarId ?? "daily");
  const known = useLoaded(`links of report ${stored?.id ?? 0}`, (signal) =>
    stored ? linksOf(stored.id, signal) : Promise.resolve(NO_LINKS),
  );
  const [links, setLinks] = useState<Links | null>(null);
  useEffect(() => {
    if (known.value) setLinks(known.value);
  }, [known.value]);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const manages = may("manageUsers");
  const users = useLoaded(`users ${manages}`, () =>
    manages ? read<User[]>("/users", { excludeAttributes: true }) : Promise.resolve([]),
  );
  const zones = useZones() ?? [];
  const groups = useGroups();
  const { attributes } = record;
  const options = isKind(record.type) ? kindOf(record.type).options : [];
  const setAttribute = (name: string, value: unknown) => {
    const { [name]: _, ...others } = attributes;
    setRecord({ ...record, attributes: value === undefined ? others : { ...others, [name]: value } });
  };
  const setIds = (kind: keyof Links) => (ids: readonly number[]) =>
    links && setLinks({ ...links, [kind]: ids });

  async function save(event: SubmitEvent) {
    event.preventDefault();
    if (busy || !links || !known.value) return;
    setBusy(true);
    setSaid("");
    try {
      await saveScheduled({ record, calendar, before: known.value, links }, style.value.zone);
      toast(t("common.saved"));
      onSaved();
    } catch (problem) {
      setSaid(sentenceOf(problem));
      setBusy(false);
    }
  }

  return (
    <Dialog
      title={stored ? t("report.editTitle") : t("report.schedule")}
      onClose={onClose}
      actions={
        <button
          type="submit"
          form="schedule-report"
          class="primary"
          disabled={busy || !links || calendar === 0}
        >
          {t("common.save")}
        </button>
      }
    >
      <form id="schedule-report" class="record-form" onSubmit={(event) => void save(event)}>
        <Field
          label={t("report.description")}
          maxLength={200}
          value={record.description ?? ""}
          onInput={(event) => setRecord({ ...record, description: event.currentTarget.value || null })}
        />
        <Select
          label={t("report.which")}
          value={record.type}
          choices={KINDS.map((name) => ({ value: name, label: t(`report.kind.${name}`) }))}
          onChange={(type) => setRecord({ ...record, type, attributes: {} })}
        />
        <Select
          label={t("report.howOften")}
          hint={t("report.howOftenHint")}
          value={typeof calendar === "number" ? OF_CALENDAR : calendar}
          choices={[
            ...PRESETS.map((preset) => ({ value: preset, label: t(`report.preset.${preset}`) })),
            { value: OF_CALENDAR, label: t("report.ofCalendar") },
          ]}
          onChange={(value) =>
            setCalendar(PRESETS.find((preset) => preset === value) ?? stored?.calendarId ?? 0)
          }
        />
        {typeof calendar === "number" && (
          <CalendarPicker
            label={t("report.calendar")}
            value={calendar}
            name={record.description ?? ""}
            disabled={busy}
            onChange={setCalendar}
          />
        )}
        {options.includes("daily") && (
          <Check
            label={t("report.daily")}
            checked={attributes.daily === true}
            onChange={(daily) => setAttribute("daily", daily || undefined)}
          />
        )}
        {options.includes("zones") && (
          <ManyPicker
            label={t("report.zones")}
            items={zones}
            values={Array.isArray(attributes.geofenceId) ? attributes.geofenceId.map(Number) : []}
            none={t("report.noZones")}
            disabled={busy}
            onChange={(ids) => setAttribute("geofenceId", ids.length > 0 ? ids : undefined)}
          />
        )}
        {options.includes("place") &&
          (["latitude", "longitude", "radius"] as const).map((name) => (
            <Field
              key={name}
              label={t(`report.${name}`)}
              type="number"
              step="any"
              required={name !== "radius"}
              value={typeof attributes[name] === "number" ? String(attributes[name]) : ""}
              onInput={({ currentTarget: { value } }) =>
                setAttribute(name, value === "" ? undefined : Number(value))
              }
            />
          ))}
        <ManyPicker
          label={t("report.vehicles")}
          items={vehicleChoices(links?.deviceId)}
          values={links?.deviceId ?? []}
          none={t(links?.groupId.length ? "report.noVehicles" : "report.allOfReader")}
          disabled={busy || !links}
          onChange={setIds("deviceId")}
        />
        <ManyPicker
          label={t("report.groups")}
          items={groups}
          values={links?.groupId ?? []}
          none={t("report.noGroups")}
          disabled={busy || !links}
          onChange={setIds("groupId")}
        />
        {manages && (
          <ManyPicker
            label={t("report.readers")}
            items={(users.value ?? []).map(({ id, name, email }) => ({
              id,
              name: name || email,
              note: email,
            }))}
            values={links?.userId ?? []}
            none={t("report.onlyMe")}
            disabled={busy || !links}
            onChange={setIds("userId")}
          />
        )}
        {known.problem !== null && <p class="refusal">{sentenceOf(known.problem)}</p>}
        {said && (
          <p class="refusal" role="alert">
            {said}
          </p>
        )}
      </form>
    </Dialog>
  );
}
