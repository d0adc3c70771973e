import { useState } from "preact/hooks";
import { t } from "../../../i18n/translate";
import { Field } from "../../../parts/Field";
import { position } from "../../../state/fleet";
import { CAMERAS, inheritedName, MOST_CHARACTERS, nameIn, renamed } from "../../../video/cameraNames";
import { camerasOf } from "../../../video/channels";
import type { Settings } from "./values";

interface CameraNamesProps {
  settings: Settings;
  onChange: (attributes: Settings["attributes"]) => void;
}

/** The names of the cameras of a device, one for each channel. */
export function CameraNames({ settings, onChange }: CameraNamesProps) {
  const { id, groupId, attributes } = settings;
  const cameras = camerasOf(settings, position(id).value);
  if (cameras.length === 0) return null;
  return (
    <section class="card" aria-labelledby="settings-cameras">
      <h2 id="settings-cameras">{t("settings.cameras")}</h2>
      <p class="card-text">{t("settings.camerasText")}</p>
      <div class="form-grid">
        {cameras.map((camera) => (
          <Name
            key={camera}
            camera={camera}
            given={nameIn(attributes, camera) ?? ""}
            inherited={inheritedName(groupId, camera) ?? ""}
            onName={(name) => {
              const { [CAMERAS]: _, ...others } = attributes;
              const names = renamed(attributes, camera, name);
              onChange(names ? { ...others, [CAMERAS]: names } : others);
            }}
          />
        ))}
      </div>
    </section>
  );
}

interface NameProps {
  camera: number;
  given: string;
  inherited: string;
  onName: (name: string) => void;
}

function Name({ camera, given, inherited, onName }: NameProps) {
  // What is typed stays as it is, with a blank at its end.
  const [text, setText] = useState(given);
  return (
    <Field
      label={t("live.camera", { camera })}
      value={text}
      maxLength={MOST_CHARACTERS}
      placeholder={inherited}
      onInput={(event) => {
        setText(event.currentTarget.value);
        onName(event.currentTarget.value);
      }}
    />
  );
}
