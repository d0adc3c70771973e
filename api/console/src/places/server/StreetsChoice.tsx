import { useId } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Field } from "../../parts/Field";
import { NamesIn } from "./NamesIn";
import { KINDS, type Streets } from "./streets";
import "./streets.css";

interface StreetsChoiceProps {
  value: Streets;
  onChange: (value: Streets) => void;
  disabled?: boolean;
  /** Where it is held; with names in backticks. */
  held?: string;
  /** Why the address or the file was refused. */
  error?: string | undefined;
}

/** Streets of OpenFreeMap, none, or those of an address or a file of one's own; says whom browsers ask. */
export function StreetsChoice({ value, onChange, disabled = false, held, error }: StreetsChoiceProps) {
  const id = useId();
  return (
    <fieldset class="streets" disabled={disabled}>
      <legend>{t("server.streets")}</legend>
      {KINDS.map((kind) => (
        <div key={kind} class="streets-kind">
          <input
            id={`${id}-${kind}`}
            type="radio"
            name={id}
            checked={value.kind === kind}
            onChange={() => onChange({ ...value, kind })}
            aria-describedby={`${id}-${kind}-text`}
          />
          <label for={`${id}-${kind}`}>{t(`server.streets.${kind}`)}</label>
          <p id={`${id}-${kind}-text`} class="field-hint">
            {t(`server.streetsText.${kind}`)}
          </p>
          {kind === value.kind && (kind === "own" || kind === "file") && (
            <Field
              label={t(kind === "own" ? "server.streetsUrl" : "server.streetsFile")}
              value={value[kind]}
              placeholder={
                kind === "own" ? "https://tiles.example.org/{z}/{x}/{y}.png" : "map/region.pmtiles"
              }
              required
              error={error}
              onInput={(event) => onChange({ ...value, [kind]: event.currentTarget.value })}
            />
          )}
        </div>
      ))}
      {held && (
        <p class="field-hint">
          <NamesIn text={held} />
        </p>
      )}
    </fieldset>
  );
}
