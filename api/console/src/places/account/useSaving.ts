import { useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";

/** Runs one change at a time and says how it ended: a toast, or the sentence of what was refused. */
export function useSaving() {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  async function save(change: () => Promise<unknown>, done: string = t("common.saved")): Promise<boolean> {
    setBusy(true);
    setSaid("");
    try {
      await change();
      toast(done);
      return true;
    } catch (problem) {
      setSaid(sentenceOf(problem));
      return false;
    } finally {
      setBusy(false);
    }
  }
  return { busy, said, setSaid, save };
}
