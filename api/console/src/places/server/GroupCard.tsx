import { useState } from "preact/hooks";
import { Problem } from "../../api/call";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { PasswordField } from "../login/PasswordField";
import { heldIn, SettingField } from "./SettingField";
import { StreetsChoice } from "./StreetsChoice";
import {
  type ChangeableSection,
  type Edits,
  type Group,
  refusedSetting,
  saveSettings,
  testSection,
  titleOf,
  written,
} from "./settings";
import { type Streets, settingsOf, streetsOf } from "./streets";

interface GroupCardProps {
  group: Group;
  version: string;
  open: boolean;
  /** Settings were changed, here or elsewhere. */
  onChanged: () => void;
}

/** A part of the settings, which is saved by itself. */
export function GroupCard({ group, version, open, onChanged }: GroupCardProps) {
  const [edits, setEdits] = useState<Edits>({});
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ key: string; text: string } | null>(null);
  const [asksPassword, setAsksPassword] = useState(false);
  const [saved, setSaved] = useState(false);
  const isEdited = Object.keys(edits).length > 0;

  async function save(event: SubmitEvent) {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setRefused(null);
    try {
      await saveSettings(edits, version, String(form.get("currentPassword") ?? ""));
      setEdits({});
      setAsksPassword(false);
      setSaved(true);
      toast(t("common.saved"));
      onChanged();
    } catch (problem) {
      const text = problem instanceof Problem ? problem.text : "";
      setRefused(refusedSetting(text) ?? { key: "", text: sentenceOf(problem) });
      if (text.startsWith("currentPassword:")) setAsksPassword(true);
      // Somebody else was first: their values are shown, with those edited here over them.
      if (text.startsWith("settings was changed")) {
        setRefused({ key: "", text: t("server.changed") });
        onChanged();
      }
    } finally {
      setBusy(false);
    }
  }

  const change = (changes: Edits) => setEdits((before) => ({ ...before, ...changes }));
  const errorOf = (key: string) => (refused?.key === key ? refused.text : undefined);
  const isShown = (key: string) => group.sections.some(({ name }) => key.startsWith(`${name}.`));
  return (
    <details class="card server-group" open={open}>
      <summary>
        <h2>{titleOf(group)}</h2>
      </summary>
      <form onSubmit={(event) => void save(event)} noValidate>
        {group.sections.map((section) => (
          <Fields key={section.name} section={section} edits={edits} onChange={change} errorOf={errorOf} />
        ))}
        {asksPassword && (
          <PasswordField
            label={t("account.currentPassword")}
            name="currentPassword"
            autocomplete="current-password"
          />
        )}
        {refused && !isShown(refused.key) && (
          <p class="refusal" role="alert">
            {refused.text}
          </p>
        )}
        <div class="form-end">
          {group.sections.map(
            ({ name, testable }) => testable && <Test key={name} section={name} disabled={isEdited} />,
          )}
          <button type="submit" class="primary" disabled={busy || !isEdited}>
            {t("common.save")}
          </button>
        </div>
      </form>
      {saved && group.name === "map" && <NewMap />}
    </details>
  );
}

interface FieldsProps {
  section: ChangeableSection;
  edits: Edits;
  onChange: (changes: Edits) => void;
  errorOf: (key: string) => string | undefined;
}

function Fields({ section, edits, onChange, errorOf }: FieldsProps) {
  const isMap = section.name === "map";
  return (
    <div class="settings">
      {isMap && <MapStreets section={section} edits={edits} onChange={onChange} errorOf={errorOf} />}
      {section.settings
        .filter(({ name }) => !(isMap && (name === "tiles" || name === "file")))
        .map((setting) => {
          const key = `${section.name}.${setting.name}`;
          return (
            <SettingField
              key={key}
              section={section.name}
              setting={setting}
              edit={edits[key]}
              error={errorOf(key)}
              onChange={(value) => onChange({ [key]: value })}
            />
          );
        })}
    </div>
  );
}

/** Streets, of which two settings are one choice. */
function MapStreets({ section, edits, onChange, errorOf }: FieldsProps) {
  const [chosen, setChosen] = useState<Streets | null>(null);
  const [tiles, file] = ["tiles", "file"].map((name) => section.settings.find((each) => each.name === name));
  if (!tiles || !file) return null;
  const isEdited = edits["map.tiles"] !== undefined && chosen;
  return (
    <StreetsChoice
      value={isEdited ? chosen : streetsOf(written(tiles.value), written(file.value))}
      onChange={(streets) => {
        setChosen(streets);
        const changes = settingsOf(streets);
        onChange({ "map.tiles": changes.tiles, "map.file": changes.file });
      }}
      held={heldIn(tiles) || heldIn(file)}
      disabled={!tiles.changeable || !file.changeable}
      error={errorOf("map.tiles") ?? errorOf("map.file")}
    />
  );
}

/** Tries what is saved. */
function Test({ section, disabled }: { section: string; disabled: boolean }) {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ text: string; isBad: boolean } | null>(null);
  async function run() {
    setBusy(true);
    setSaid(null);
    try {
      setSaid({ text: await testSection(section), isBad: false });
    } catch (problem) {
      setSaid({ text: sentenceOf(problem), isBad: true });
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <p class={said?.isBad ? "refusal server-said" : "server-said"} role="status">
        {said?.text}
      </p>
      <button
        type="button"
        disabled={busy || disabled}
        title={t("server.testText")}
        onClick={() => void run()}
      >
        {t("server.test")}
      </button>
    </>
  );
}

/** Pages have the map and the policy that they were loaded with. */
function NewMap() {
  return (
    <p class="server-said" role="status">
      {t("server.newMap")}{" "}
      <button type="button" class="link" onClick={() => window.location.reload()}>
        {t("frame.reload")}
      </button>
    </p>
  );
}
