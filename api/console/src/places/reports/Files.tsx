import { useState } from "preact/hooks";
import { address, get, type Query } from "../../api/call";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { session } from "../../state/session";
import type { Item, Kind } from "./kinds";

/** The report as a file, by mail, and on paper. Files are written by the server, however long they are. */
export function Files({ kind, request }: { kind: Kind<Item>; request: Query | null }) {
  const [busy, setBusy] = useState(false);
  if (!request) return null;
  async function mail() {
    setBusy(true);
    try {
      await get<void>(`/reports/${kind.name}/mail`, request ?? {});
      toast(t("report.mailed"));
    } catch (problem) {
      toast(sentenceOf(problem), "bad");
    } finally {
      setBusy(false);
    }
  }
  return (
    <div class="button-row report-files">
      <a class="button quiet" href={address(`/reports/${kind.name}/xlsx`, request)} download>
        <Icon name="download" size={16} />
        {t("report.workbook")}
      </a>
      <a class="button quiet" href={address(`/reports/${kind.name}/csv`, request)} download>
        <Icon name="download" size={16} />
        CSV
      </a>
      {session.value?.email && !session.value.temporary && (
        <button type="button" class="quiet" disabled={busy} onClick={() => void mail()}>
          {t("report.mail")}
        </button>
      )}
      <button type="button" class="quiet" onClick={() => window.print()}>
        {t("report.print")}
      </button>
    </div>
  );
}
