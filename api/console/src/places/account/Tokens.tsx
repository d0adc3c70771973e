import { useState } from "preact/hooks";
import { get, post, remove } from "../../api/call";
import type { TokenInfo } from "../../api/types";
import { shortTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { CopyField } from "../../parts/CopyField";
import { Select } from "../../parts/Field";
import { Problem } from "../../parts/Problem";
import { useLoaded } from "../../state/responseCache";
import { may, style } from "../../state/session";
import { now } from "../../time/clock";
import { Section } from "./Section";
import { useSaving } from "./useSaving";

const DAYS = ["1", "7", "30", "365"];
const DAY_MS = 86_400_000;

/** Tokens that log in programs as the user; a new one is shown once. */
export function Tokens() {
  const tokens = useLoaded("tokens", (signal) => get<TokenInfo[]>("/tokens", undefined, signal));
  const { busy, said, save } = useSaving();
  const [days, setDays] = useState("30");
  const [issued, setIssued] = useState<string | null>(null);
  if (!may("token")) return null;
  const time = (text: string) => shortTime(Date.parse(text), now.value, style.value);

  async function issue() {
    const expiration = new Date(Date.now() + Number(days) * DAY_MS).toISOString();
    await save(
      async () => setIssued(await post<string>("/session/token", new URLSearchParams({ expiration }))),
      t("account.tokenIssued"),
    );
    tokens.reload();
  }

  return (
    <Section name="tokens" title={t("account.tokens")} text={t("account.tokensText")} said={said}>
      {tokens.problem !== null && <Problem problem={tokens.problem} onRetry={tokens.reload} />}
      {tokens.value?.length === 0 && <p class="card-text">{t("account.noTokens")}</p>}
      <ul class="records">
        {(tokens.value ?? []).map((each) => (
          <li key={each.id}>
            <div>
              <strong>{t("account.issued", { time: time(each.issued) })}</strong>
              <small>{t("account.expires", { time: time(each.expires) })}</small>
            </div>
            <button
              type="button"
              class="quiet"
              disabled={busy}
              onClick={() => void save(() => remove(`/tokens/${each.id}`)).then(tokens.reload)}
            >
              {t("account.revoke")}
            </button>
          </li>
        ))}
      </ul>
      {issued && (
        <div class="issued" role="status">
          <p>{t("account.tokenOnce")}</p>
          <CopyField label={t("account.newToken")} value={issued} />
        </div>
      )}
      <div class="new-token">
        <Select
          label={t("account.tokenDays")}
          value={days}
          choices={DAYS.map((count) => ({
            value: count,
            label: t("account.days", { count: Number(count) }),
          }))}
          onChange={setDays}
        />
        <button type="button" disabled={busy} onClick={() => void issue()}>
          {t("account.newToken")}
        </button>
      </div>
    </Section>
  );
}
