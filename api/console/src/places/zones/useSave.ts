import { useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import type { Editing } from "./editing";
import { Conflict, PartlySaved, saveZone } from "./requests";

/** Saves what is edited, once at a time, and says what was refused. */
export function useSave(editing: Editing, onSaved: (id: number) => void) {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState("");
  const [conflict, setConflict] = useState<Conflict | null>(null);

  async function save(): Promise<void> {
    const { name, area } = editing.record.peek();
    setSaid("");
    if (area === "") return setSaid(t("zone.noShape"));
    if (name.trim() === "") return setSaid(t("zone.noName"));
    setBusy(true);
    editing.drawing.value = null;
    try {
      const id = await saveZone(editing);
      toast(t("zone.saved"));
      onSaved(id);
    } catch (problem) {
      if (problem instanceof Conflict) setConflict(problem);
      else setSaid(sayingOf(problem));
    } finally {
      setBusy(false);
    }
  }
  return { busy, said, conflict, setConflict, save };
}

function sayingOf(problem: unknown): string {
  if (!(problem instanceof PartlySaved)) return sentenceOf(problem);
  const part = t(problem.step === "notices" ? "zone.partNotices" : `zone.${problem.step}`);
  return t("zone.partly", { part, reason: sentenceOf(problem.cause) });
}
