import { useId, useState } from "preact/hooks";
import { post } from "../../../api/call";
import { t } from "../../../i18n/translate";
import { sentenceOf } from "../../../parts/Problem";
import { IMAGE, imageOf } from "../deviceImage";
import type { Settings } from "./values";

interface PictureProps {
  settings: Settings;
  onChange: (attributes: Settings["attributes"]) => void;
}

/** The picture of a vehicle: a file is sent as soon as it is chosen, and is the picture once that is saved. */
export function Picture({ settings, onChange }: PictureProps) {
  const field = useId();
  /** A picture of the same name takes the place of the one before. */
  const [round, setRound] = useState(0);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const { id, attributes } = settings;
  const image = imageOf(settings);

  async function send(file: File) {
    setBusy(true);
    setSaid("");
    try {
      onChange({ ...attributes, [IMAGE]: await post<string>(`/devices/${id}/image`, file) });
      setRound(round + 1);
    } catch (problem) {
      setSaid(sentenceOf(problem));
    }
    setBusy(false);
  }
  return (
    <section class="card" aria-labelledby="settings-picture">
      <h2 id="settings-picture">{t("settings.picture")}</h2>
      <p class="card-text">{t("settings.pictureText")}</p>
      {image && <img class="settings-picture" src={`${image}?${round}`} alt={settings.name} />}
      <div class="field">
        <label for={field}>{t("settings.pictureFile")}</label>
        <input
          id={field}
          type="file"
          accept="image/jpeg,image/png,image/gif,image/webp"
          disabled={busy}
          onChange={(event) => {
            const chosen = event.currentTarget.files?.[0];
            if (chosen) void send(chosen);
          }}
        />
      </div>
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
      {image && (
        <div class="button-row">
          <button
            type="button"
            disabled={busy}
            onClick={() => {
              const { [IMAGE]: _, ...others } = attributes;
              onChange(others);
            }}
          >
            {t("settings.pictureRemove")}
          </button>
        </div>
      )}
    </section>
  );
}
