import { useId } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Field } from "../../parts/Field";
import "./streets.css";

const KINDS = ["openfreemap", "none", "own", "file"] as const;

/** What the map shows over the outlines: `tiles` and `file` of `[map]` (docs/console.md#map). */
export interface Streets {
  kind: (typeof KINDS)[number];
  /** The address of tiles or of a style of one's own. */
  own: string;
  /** The path of a file in the data folder of the server. */
  file: string;
}

/** The choice that two settings are. */
export function streetsOf(tiles: string, file: string): Streets {
  if (tiles !== "openfreemap" && tiles !== "none") return { kind: "own", own: tiles, file };
  return { kind: file && tiles !== "none" ? "file" : tiles, own: "", file };
}

/** The two settings that a choice is. */
export function settingsOf({ kind, own, file }: Streets): { tiles: string; file: string | null } {
  if (kind === "file") return { tiles: "openfreemap", file: file.trim() };
  return { tiles: kind === "own" ? own.trim() : kind, file: null };
}

interface StreetsChoiceProps {
  value: Streets;
  onChange: (value: Streets) => void;
  disabled?: boolean;
  /** Where it is held. */
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
      {held && <p class="field-hint">{held}</p>}
    </fieldset>
  );
}
