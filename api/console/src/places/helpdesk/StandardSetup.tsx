import { useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Empty } from "../../parts/Empty";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { drop } from "../../state/responseCache";
import { makeDefaults } from "./setUp";

interface StandardSetupProps {
  companyId: number;
  mayEdit: boolean;
  title: string;
  text: string;
  onDone: () => void;
}

/** Said where something is missing that every helpdesk needs, with the button that makes the standard ones. */
export function StandardSetup({ companyId, mayEdit, title, text, onDone }: StandardSetupProps) {
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    try {
      await makeDefaults(companyId);
      drop("/ticket");
      onDone();
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
      setBusy(false);
    }
  };
  return (
    <Empty icon="headset" title={title} text={text}>
      {mayEdit && (
        <button type="button" class="primary" disabled={busy} onClick={() => void make()}>
          {t("helpdesk.makeStandard")}
        </button>
      )}
    </Empty>
  );
}
