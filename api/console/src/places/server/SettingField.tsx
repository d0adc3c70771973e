import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { hasText, t } from "../../i18n/translate";
import { Check, Field, Select } from "../../parts/Field";
import { NamesIn } from "./NamesIn";
import { type ChangeableSetting, labelOf, meaningOf, typed, type Value, written } from "./settings";

interface SettingFieldProps {
  section: string;
  setting: ChangeableSetting;
  /** What was edited; undefined if nothing was. */
  edit: Value | undefined;
  /** Why the last value was refused. */
  error?: string | undefined;
  onChange: (value: Value) => void;
}

/** A setting by what the server says of it: what it changes, its default, and where its value comes from. */
export function SettingField({ section, setting, edit, error, onChange }: SettingFieldProps) {
  const shown = edit === undefined ? setting.value : (edit ?? setting.default);
  const isSet = edit === undefined ? setting.source === "database" : edit !== null;
  return (
    <div class="setting">
      <Input
        setting={setting}
        label={unitOf(labelOf(section, setting), setting)}
        shown={shown}
        error={error}
        onChange={onChange}
      />
      <About section={section} setting={setting}>
        {setting.changeable && isSet && (
          <button type="button" class="link" onClick={() => onChange(null)}>
            {t("server.toDefault")}
          </button>
        )}
      </About>
    </div>
  );
}

interface InputProps {
  setting: ChangeableSetting;
  label: string;
  shown: unknown;
  error: string | undefined;
  onChange: (value: Value) => void;
}

function Input({ setting, label, shown, error, onChange }: InputProps) {
  const disabled = !setting.changeable;
  if (setting.type === "boolean" && !setting.optional) {
    return <Check label={label} checked={shown === true} onChange={onChange} disabled={disabled} />;
  }
  if (setting.type === "boolean" || setting.choices.length > 0) {
    const values = setting.type === "boolean" ? ["true", "false"] : setting.choices;
    const choices = values.map((value) => ({ value, label: wordOf(value) }));
    return (
      <Select
        label={label}
        value={written(shown)}
        choices={setting.optional ? [{ value: "", label: t("server.unset") }, ...choices] : choices}
        onChange={onChange}
        disabled={disabled}
        error={error}
        translate={setting.type === "boolean"}
      />
    );
  }
  const isNumber = setting.type === "integer" || setting.type === "number";
  return (
    <Field
      label={label}
      value={written(shown)}
      type={setting.secret ? "password" : "text"}
      autocomplete={setting.secret ? "new-password" : "off"}
      inputMode={isNumber ? "decimal" : "text"}
      spellcheck={false}
      disabled={disabled}
      error={error}
      onInput={(event) => onChange(typed(setting, event.currentTarget.value))}
    />
  );
}

/** What the setting changes, what applies without it, and where it is set. */
function About({
  section,
  setting,
  children,
}: {
  section: string;
  setting: ChangeableSetting;
  children: ComponentChildren;
}) {
  const id = useId();
  const { text, isServers } = meaningOf(section, setting);
  const value = defaultOf(setting);
  return (
    <p class="field-hint" id={id}>
      {/* The words of the server are English. */}
      <span {...(isServers && { lang: "en" })}>
        <NamesIn text={text} />
      </span>{" "}
      {setting.type === "list" && `${t("server.commas")} `}
      {value && (
        <span class="setting-default">
          <NamesIn text={t("server.default", { value })} />{" "}
        </span>
      )}
      <NamesIn text={heldIn(setting)} /> {children}
    </p>
  );
}

function defaultOf(setting: ChangeableSetting): string {
  if (setting.secret) return "";
  if (typeof setting.default === "boolean") return wordOf(String(setting.default));
  if (setting.unit === "bytes") return inBytes(Number(setting.default));
  const text = written(setting.default);
  return text && typeof setting.default !== "number" ? `\`${text}\`` : text;
}

/** Where a setting is held, if it is not at its default; with names in backticks. */
export function heldIn(setting: ChangeableSetting): string {
  if (setting.source === "file") return t("server.inFile");
  if (setting.source === "environment") return t("server.inEnvironment", { name: `\`${setting.variable}\`` });
  if (!setting.changeable) return t("server.secretElsewhere");
  return setting.source === "database" ? t("server.setHere") : "";
}

function wordOf(value: string): string {
  if (value === "true") return t("server.yes");
  return value === "false" ? t("server.no") : value;
}

function unitOf(label: string, { unit }: ChangeableSetting): string {
  const key = `unit.${unit}`;
  return unit ? `${label} (${hasText(key) ? t(key) : unit})` : label;
}

function inBytes(bytes: number): string {
  const power = Math.min(3, Math.max(0, Math.floor(Math.log2(bytes || 1) / 10)));
  return power ? `${bytes} (${bytes / 1024 ** power} ${["", "KiB", "MiB", "GiB"][power]})` : String(bytes);
}
