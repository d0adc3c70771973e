import { useState } from "preact/hooks";
import { t } from "../i18n/translate";
import { Dialog } from "../parts/Dialog";
import { Field } from "../parts/Field";
import { sentenceOf } from "../parts/Problem";
import { device } from "../state/fleet";
import { inheritedName, MOST_CHARACTERS, nameIn, renameCamera } from "./cameraNames";
import type { TileId } from "./tiles";

/** Asks what a camera is to be called. */
export function RenameCamera({ deviceId, camera, onClose }: TileId & { onClose: () => void }) {
  const found = device(deviceId).value;
  const [name, setName] = useState(nameIn(found?.attributes, camera) ?? "");
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const inherited = inheritedName(found?.groupId ?? 0, camera);
  async function save(): Promise<void> {
    setBusy(true);
    try {
      await renameCamera(deviceId, camera, name);
      onClose();
    } catch (failure) {
      setProblem(failure);
      setBusy(false);
    }
  }
  return (
    <Dialog
      title={t("live.rename")}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            {t("common.cancel")}
          </button>
          <button type="submit" form="rename-camera" class="primary" disabled={busy}>
            {t("common.save")}
          </button>
        </>
      }
    >
      <form
        id="rename-camera"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field
          label={t("live.nameOf", { camera })}
          hint={t("live.renameHint")}
          value={name}
          maxLength={MOST_CHARACTERS}
          placeholder={inherited ?? t("live.camera", { camera })}
          autofocus
          onInput={(event) => setName(event.currentTarget.value)}
          error={problem ? sentenceOf(problem) : undefined}
        />
      </form>
    </Dialog>
  );
}
