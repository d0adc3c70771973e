import { get, remove } from "../../api/call";
import type { SessionInfo } from "../../api/types";
import { shortTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { Section } from "./Section";
import { useSaving } from "./useSaving";

/** Where the user is logged in; each can be ended. */
export function Sessions() {
  const sessions = useLoaded("sessions", (signal) => get<SessionInfo[]>("/sessions", undefined, signal));
  const { busy, said, save } = useSaving();
  const sorted = [...(sessions.value ?? [])].sort(
    (a, b) => Number(b.current) - Number(a.current) || b.lastUsed.localeCompare(a.lastUsed),
  );
  return (
    <Section name="sessions" title={t("account.sessions")} text={t("account.sessionsText")} said={said}>
      {sessions.problem !== null && <Problem problem={sessions.problem} onRetry={sessions.reload} />}
      {!sessions.value && sessions.problem === null && <Skeleton label={t("common.loading")} />}
      <ul class="records">
        {sorted.map((each) => (
          <li key={each.id}>
            <div>
              <strong>{clientName(each.userAgent)}</strong>
              {each.current && <span class="badge">{t("account.thisSession")}</span>}
              <small>
                {each.address && `${t("account.from", { address: each.address })} · `}
                {t("account.lastUsed", {
                  time: shortTime(Date.parse(each.lastUsed), now.value, style.value),
                })}
              </small>
            </div>
            {!each.current && (
              <button
                type="button"
                class="quiet"
                disabled={busy}
                onClick={() => void save(() => remove(`/sessions/${each.id}`)).then(sessions.reload)}
              >
                {t("account.endSession")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {sorted.some((each) => !each.current) && (
        <div class="form-end">
          <button
            type="button"
            disabled={busy}
            onClick={() => void save(() => remove("/sessions")).then(sessions.reload)}
          >
            {t("account.endOthers")}
          </button>
        </div>
      )}
    </Section>
  );
}

/** Browser and system out of what a browser calls itself. */
export function clientName(userAgent: string | null): string {
  if (!userAgent) return "?";
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\/\d+/.exec(userAgent)?.[1];
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(userAgent)?.[1];
  if (!browser) return userAgent.split(" ")[0] ?? userAgent;
  const name = { Edg: "Edge", OPR: "Opera" }[browser] ?? browser;
  return system ? `${name}, ${system === "Mac OS X" ? "macOS" : system}` : name;
}
