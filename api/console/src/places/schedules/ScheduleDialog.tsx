import type { Command, ScheduledCommand, ScheduledStep } from "../../api/types";
import { CalendarPicker } from "../../calendars/CalendarPicker";
import { savedName } from "../../commands/names";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { Picker } from "../../parts/Picker";
import { NameField, TextField } from "../../records/EditFields";
import { type Edit, RecordDialog } from "../../records/RecordDialog";
import { read, useLoaded } from "../../state/responseCache";
import { NumberField } from "../zones/NumberField";

const MOST_STEPS = 50;
const MOST_DELAY_MINUTES = 7 * 24 * 60;
/** As the server has it: 30 days. */
const MOST_QUEUE_MINUTES = 43_200;
const QUEUE = "queueMaxMinutes";

const BLANK: ScheduledCommand = {
  id: 0,
  name: "",
  description: null,
  calendarId: 0,
  active: true,
  onStart: [],
  onEnd: [],
  attributes: {},
  deviceIds: [],
  groupIds: [],
  lastRun: null,
  ownerId: 0,
};

interface ScheduleDialogProps {
  /** Null for a new one. */
  schedule: ScheduledCommand | null;
  onClose: () => void;
  onSaved: (saved: ScheduledCommand) => void;
}

/** A schedule: its calendar, and what is sent when windows begin and end. */
export function ScheduleDialog({ schedule, onClose, onSaved }: ScheduleDialogProps) {
  return (
    <RecordDialog
      title={schedule?.name ?? t("schedule.new")}
      path="/scheduledcommands"
      stored={schedule}
      blank={BLANK}
      wide
      onClose={onClose}
      onSaved={onSaved}
    >
      {(edit) => <ScheduleFields edit={edit} />}
    </RecordDialog>
  );
}

function ScheduleFields({ edit }: { edit: Edit<ScheduledCommand> }) {
  const { value, set, setAttribute, errorOf, disabled } = edit;
  const commands = useLoaded("saved commands", () => read<readonly Command[]>("/commands"));
  const minutes = value.attributes[QUEUE];
  return (
    <>
      <div class="form-grid">
        <NameField edit={edit} />
        <TextField edit={edit} field="description" label={t("schedule.description")} />
      </div>
      <CalendarPicker
        label={t("schedule.calendar")}
        value={value.calendarId}
        name={value.name}
        error={errorOf("calendarId")}
        disabled={disabled}
        onChange={(calendarId) => set({ calendarId })}
      />
      {(["onStart", "onEnd"] as const).map((list) => (
        <Steps
          key={list}
          label={t(`schedule.${list}`)}
          steps={value[list]}
          commands={commands.value ?? []}
          error={errorOf(list)}
          disabled={disabled}
          onChange={(steps) => set({ [list]: steps })}
        />
      ))}
      {commands.value?.length === 0 && <p class="field-hint">{t("schedule.noCommands")}</p>}
      <NumberField
        label={t("schedule.queue")}
        value={typeof minutes === "number" ? minutes : null}
        least={0}
        most={MOST_QUEUE_MINUTES}
        optional
        disabled={disabled}
        onChange={(changed) => setAttribute(QUEUE, changed ? Math.round(changed) : undefined)}
      />
      <p class="field-hint">
        {t(
          value.onEnd.length === 0 || value.onStart.length === 0
            ? "schedule.queueHintAlone"
            : "schedule.queueHint",
        )}
      </p>
    </>
  );
}

interface StepsProps {
  label: string;
  steps: readonly ScheduledStep[];
  commands: readonly Command[];
  error: string | undefined;
  disabled: boolean;
  onChange: (steps: readonly ScheduledStep[]) => void;
}

/** Saved commands in their order, each with its wait after the one before. */
function Steps({ label, steps, commands, error, disabled, onChange }: StepsProps) {
  const change = (index: number, part: Partial<ScheduledStep>) =>
    onChange(steps.map((step, at) => (at === index ? { ...step, ...part } : step)));
  return (
    <fieldset class="schedule-steps">
      <legend>{label}</legend>
      {steps.map(({ commandId, delaySeconds }, index) => (
        <div key={index} class="schedule-step">
          <Picker
            label={t("schedule.step", { number: index + 1 })}
            items={items(commands, commandId)}
            value={commandId}
            disabled={disabled}
            onChange={(id) => id !== null && change(index, { commandId: Number(id) })}
          />
          {index > 0 && (
            <NumberField
              label={t("schedule.delay")}
              value={delaySeconds / 60}
              least={0}
              most={MOST_DELAY_MINUTES}
              disabled={disabled}
              onChange={(minutes) => change(index, { delaySeconds: Math.round((minutes ?? 0) * 60) })}
            />
          )}
          <button
            type="button"
            class="icon-button"
            disabled={disabled}
            aria-label={t("schedule.removeStep", { number: index + 1 })}
            title={t("schedule.removeStep", { number: index + 1 })}
            onClick={() => onChange(steps.filter((_, at) => at !== index))}
          >
            <Icon name="close" size={16} />
          </button>
        </div>
      ))}
      {steps.length < MOST_STEPS && (
        <Picker
          label={t("schedule.addStep")}
          items={items(commands, 0)}
          value={null}
          placeholder={steps.length === 0 ? t("schedule.nothing") : t("schedule.oneMore")}
          disabled={disabled}
          onChange={(id) => id !== null && onChange([...steps, { commandId: Number(id), delaySeconds: 0 }])}
        />
      )}
      {error && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}

/** All saved commands, and one that the reader does not see. */
function items(commands: readonly Command[], chosen: number) {
  const found = commands.map((each) => ({ id: each.id, name: savedName(each) }));
  if (!chosen || found.some(({ id }) => id === chosen)) return found;
  return [{ id: chosen, name: t("schedule.hiddenCommand", { id: chosen }) }, ...found];
}
