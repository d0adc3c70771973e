import type { Group } from "../../../api/types";
import { t } from "../../../i18n/translate";
import { Check, Field, Select } from "../../../parts/Field";
import { Picker } from "../../../parts/Picker";
import { read, useLoaded } from "../../../state/responseCache";
import { style } from "../../../state/session";
import { instantOfLocal, localTime, type Settings } from "./values";

/** Icons of other clients; a vehicle may have another one. */
export const CATEGORIES = [
  "car",
  "van",
  "truck",
  "bus",
  "motorcycle",
  "trailer",
  "tractor",
  "crane",
  "boat",
  "person",
] as const;

interface GeneralProps {
  settings: Settings;
  onChange: (changes: Partial<Settings>) => void;
}

/** Name, number and what else has a field of its own. */
export function General({ settings, onChange }: GeneralProps) {
  const groups = useLoaded("groups", () => read<Group[]>("/groups", { excludeAttributes: true }));
  const { zone } = style.value;
  const text = (name: "name" | "uniqueId" | "model" | "contact" | "phone") => ({
    value: settings[name] ?? "",
    maxLength: 128,
    onInput: (event: { currentTarget: HTMLInputElement }) => {
      const entered = event.currentTarget.value;
      const needed = name === "name" || name === "uniqueId";
      onChange({ [name]: needed ? entered : entered || null });
    },
  });
  const known = (groups.value ?? []).map((each) => ({ id: each.id, name: each.name }));
  const foreign = settings.groupId !== 0 && !known.some((each) => each.id === settings.groupId);
  const category = settings.category ?? "";
  const choices = [
    { value: "", label: t("common.none") },
    ...CATEGORIES.map((each) => ({ value: each as string, label: t(`settings.category.${each}`) })),
    ...(category && !(CATEGORIES as readonly string[]).includes(category)
      ? [{ value: category, label: category }]
      : []),
  ];
  return (
    <section class="card" aria-labelledby="settings-general">
      <h2 id="settings-general">{t("settings.general")}</h2>
      <div class="form-grid">
        <Field label={t("settings.name")} required {...text("name")} />
        <Field
          label={t("settings.uniqueId")}
          hint={t("settings.uniqueIdHint")}
          required
          {...text("uniqueId")}
        />
        <Picker
          label={t("vehicle.group")}
          items={foreign ? [...known, { id: settings.groupId, name: t("settings.otherGroup") }] : known}
          value={settings.groupId || null}
          noneLabel={t("common.none")}
          onChange={(id) => onChange({ groupId: id === null ? 0 : Number(id) })}
        />
        <Select
          label={t("settings.category")}
          value={category}
          choices={choices}
          onChange={(value) => onChange({ category: value || null })}
        />
        <Field label={t("vehicle.model")} {...text("model")} />
        <Field label={t("vehicle.contact")} {...text("contact")} />
        <Field
          label={t("vehicle.phone")}
          hint={t("settings.phoneHint")}
          type="tel"
          autocomplete="off"
          {...text("phone")}
        />
        <Field
          label={t("settings.expires")}
          hint={t("common.zone", { zone: zone.replace(/_/g, " ") })}
          type="datetime-local"
          max="9999-12-31T23:59"
          value={localTime(settings.expirationTime, zone)}
          onChange={(event: { currentTarget: HTMLInputElement }) =>
            onChange({ expirationTime: instantOfLocal(event.currentTarget.value, zone) })
          }
        />
      </div>
      <Check
        label={t("settings.disabled")}
        hint={t("settings.disabledHint")}
        checked={settings.disabled}
        onChange={(disabled) => onChange({ disabled })}
      />
    </section>
  );
}
