import { t } from "../../../i18n/translate";
import { Link } from "../../../Link";
import { Skeleton } from "../../../parts/Late";
import { Problem } from "../../../parts/Problem";
import { LoggedCommands } from "../../sent/LoggedCommands";
import { addressOf, type Filters } from "../../sent/log";
import { useCommandLog } from "../../sent/useCommandLog";

/** Rows beside the form; all are one link away. */
const ROWS = 20;

/** What was sent to a vehicle by anybody, the newest first, live. */
export function History({ id }: { id: number }) {
  const filters: Filters = { deviceId: id, userId: null, states: [], days: 0 };
  const log = useCommandLog(String(id), filters, ROWS);
  return (
    <section class="card" aria-labelledby="command-history">
      <h2 id="command-history">{t("sent.title")}</h2>
      {log.problem !== null && <Problem problem={log.problem} onRetry={log.reload} />}
      {!log.items && log.problem === null && <Skeleton label={t("common.loading")} lines={3} />}
      {log.items?.length === 0 && <p class="card-text">{t("sent.emptyHere")}</p>}
      {log.items && <LoggedCommands items={log.items.slice(0, ROWS)} label={t("sent.title")} />}
      {log.items && log.items.length > 0 && <Link to={addressOf(filters)}>{t("sent.all")}</Link>}
    </section>
  );
}
