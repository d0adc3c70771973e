import { useState } from "preact/hooks";
import type { Device } from "../../../api/types";
import { speedSign } from "../../../format/units";
import { t } from "../../../i18n/translate";
import { Field } from "../../../parts/Field";
import { Icon } from "../../../parts/Icon";
import { Picker } from "../../../parts/Picker";
import { read, useLoaded } from "../../../state/responseCache";
import { style } from "../../../state/session";
import {
  enteredOf,
  KNOWN,
  type KnownAttribute,
  type OtherAttribute,
  storedOf,
  ZONE_ATTRIBUTE,
} from "./values";

interface AttributesProps {
  attributes: Device["attributes"];
  others: readonly OtherAttribute[];
  onChange: (attributes: Device["attributes"]) => void;
  onOthers: (others: readonly OtherAttribute[]) => void;
  /** Whether the text of a field is no value. */
  onWrong: (name: string, isWrong: boolean) => void;
}

/** Attributes that the server knows, with plain labels, and all others as names and values. */
export function Attributes({ attributes, others, onChange, onOthers, onWrong }: AttributesProps) {
  const zones = useLoaded("zones", () => read<string[]>("/server/timezones"));
  const zone = attributes[ZONE_ATTRIBUTE];
  function set(name: string, value: unknown) {
    const { [name]: _, ...rest } = attributes;
    onChange(value === undefined ? rest : { ...rest, [name]: value });
  }
  return (
    <>
      <section class="card" aria-labelledby="settings-rules">
        <h2 id="settings-rules">{t("settings.rules")}</h2>
        <p class="card-text">{t("settings.rulesText")}</p>
        <div class="form-grid">
          {KNOWN.map((known) => (
            <Known
              key={known.name}
              known={known}
              value={attributes[known.name]}
              onChange={(value) => {
                onWrong(known.name, value === null);
                if (value !== null) set(known.name, value);
              }}
            />
          ))}
          <Picker
            label={t("settings.clockZone")}
            items={(zones.value ?? []).map((each) => ({ id: each, name: each.replace(/_/g, " ") }))}
            value={typeof zone === "string" ? zone : null}
            noneLabel={t("settings.asProtocol")}
            onChange={(id) => set(ZONE_ATTRIBUTE, id ?? undefined)}
          />
        </div>
      </section>
      <Others others={others} onChange={onOthers} />
    </>
  );
}

interface KnownProps {
  known: KnownAttribute;
  value: unknown;
  onChange: (value: number | undefined | null) => void;
}

function Known({ known, value, onChange }: KnownProps) {
  // What is typed stays as it is: 49.5 begins with 49.
  const [text, setText] = useState(() => enteredOf(known, value, style.value));
  const isWrong = storedOf(known, text, style.value) === null;
  return (
    <Field
      label={t(known.label, { unit: speedSign(style.value) })}
      hint={known.hint && t(known.hint)}
      error={
        isWrong ? t("settings.noNumber", { max: known.max.toLocaleString(style.value.language) }) : undefined
      }
      inputMode="decimal"
      value={text}
      onInput={(event) => {
        setText(event.currentTarget.value);
        onChange(storedOf(known, event.currentTarget.value, style.value));
      }}
    />
  );
}

interface OthersProps {
  others: readonly OtherAttribute[];
  onChange: (others: readonly OtherAttribute[]) => void;
}

function Others({ others, onChange }: OthersProps) {
  const change = (index: number, changes: Partial<OtherAttribute>) =>
    onChange(others.map((each, at) => (at === index ? { ...each, ...changes } : each)));
  return (
    <section class="card" aria-labelledby="settings-others">
      <h2 id="settings-others">{t("settings.others")}</h2>
      {others.length === 0 && <p class="card-text">{t("settings.noOthers")}</p>}
      {others.map((each, index) => (
        <div key={index} class="settings-other">
          <input
            aria-label={t("settings.attributeName", { count: index + 1 })}
            placeholder={t("settings.attribute")}
            value={each.name}
            readOnly={each.was !== undefined}
            onInput={(event) => change(index, { name: event.currentTarget.value })}
          />
          <input
            aria-label={t("settings.valueOf", { name: each.name || String(index + 1) })}
            placeholder={t("settings.value")}
            value={each.text}
            onInput={(event) => change(index, { text: event.currentTarget.value })}
          />
          <button
            type="button"
            class="icon-button"
            aria-label={t("settings.remove", { name: each.name || String(index + 1) })}
            title={t("settings.remove", { name: each.name || String(index + 1) })}
            onClick={() => onChange(others.filter((_, at) => at !== index))}
          >
            <Icon name="trash" size={18} />
          </button>
        </div>
      ))}
      <div>
        <button
          type="button"
          class="quiet"
          onClick={() => onChange([...others, { name: "", text: "", was: undefined }])}
        >
          <Icon name="plus" size={16} />
          {t("settings.add")}
        </button>
      </div>
    </section>
  );
}
