import { useState } from "preact/hooks";
import { remove } from "../../../api/call";
import { t } from "../../../i18n/translate";
import { Dialog } from "../../../parts/Dialog";
import { Icon } from "../../../parts/Icon";
import { sentenceOf } from "../../../parts/Problem";
import { toast } from "../../../parts/Toast";
import { go } from "../../../router";
import { loadFleet } from "../../../state/fleet";
import { drop } from "../../../state/responseCache";

/** Deletes a vehicle after a question, which Enter answers with no. */
export function DeleteVehicle({ id, name }: { id: number; name: string }) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);

  async function run() {
    setBusy(true);
    try {
      await remove(`/devices/${id}`);
      drop("/devices");
      // What cannot be read now is read when the line is back.
      await loadFleet().catch(() => {});
      toast(t("settings.deleted", { name }));
      go("/fleet");
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
      setBusy(false);
      setAsking(false);
    }
  }

  return (
    <>
      <button type="button" class="dangerous" onClick={() => setAsking(true)}>
        <Icon name="trash" size={16} />
        {t("settings.delete")}
      </button>
      {asking && (
        <Dialog
          title={t("settings.deleteTitle", { name })}
          onClose={() => setAsking(false)}
          actions={
            <>
              <button type="button" autofocus onClick={() => setAsking(false)}>
                {t("common.cancel")}
              </button>
              <button type="button" class="dangerous" disabled={busy} onClick={() => void run()}>
                {t("settings.delete")}
              </button>
            </>
          }
        >
          <p>{t("settings.deleteText")}</p>
        </Dialog>
      )}
    </>
  );
}
