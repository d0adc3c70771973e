import { t } from "../i18n/translate";
import { Icon } from "./Icon";

/** What is known of a refusal; `Problem` of api/call.ts has it. */
export interface Refusal {
  status: number;
  text: string;
  retryAfter: number | null;
  /** Nothing was sent, because the server cannot be reached. */
  unsent?: boolean;
}

/** A sentence about a refusal: the server's own where it says one, never a bare code. */
export function sentence(refusal: Refusal): string {
  const wait = refusal.retryAfter === null ? "" : ` ${t("problem.wait", { count: refusal.retryAfter })}`;
  if (refusal.unsent) return t("problem.unsent");
  if (refusal.status === 0) return t(navigator.onLine ? "problem.silent" : "problem.offline");
  if (refusal.status === 404) return t("problem.missing");
  if (refusal.status >= 500) return t("problem.database") + wait;
  const text = refusal.text.trim();
  // Proxies answer with pages of HTML.
  if (text === "" || text.startsWith("<")) return t("problem.refused", { status: refusal.status }) + wait;
  return (text.charAt(0).toUpperCase() + text.slice(1)).replace(/([^.!?])$/, "$1.") + wait;
}

/** The sentence of anything that was thrown. */
export function sentenceOf(thrown: unknown): string {
  if (thrown instanceof Error && "status" in thrown && "text" in thrown)
    return sentence(thrown as Error & Refusal);
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** A refusal with a button to try again. */
export function Problem({ problem, onRetry }: { problem: unknown; onRetry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <p>{sentenceOf(problem)}</p>
      {onRetry && (
        <button type="button" class="quiet" onClick={onRetry}>
          {t("common.retry")}
        </button>
      )}
    </div>
  );
}
