import { useState } from "preact/hooks";
import { get, remove } from "../../api/call";
import type { SessionInfo, TokenInfo, User } from "../../api/types";
import { shortTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Skeleton } from "../../parts/Late";
import { Problem, sentenceOf } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { useLoaded } from "../../state/responseCache";
import { may, session, style } from "../../state/session";
import { now } from "../../time/clock";
import { clientName } from "../account/Sessions";
import { nameOf } from "./users";

/** Where a user is logged in, and which tokens they have; each can be ended, and all at once. */
export function Logins({ user }: { user: User }) {
  const [asked, setAsked] = useState(false);
  const whose = { userId: user.id };
  const { value, problem, reload } = useLoaded(`logins ${user.id}`, async (signal) => ({
    sessions: await get<SessionInfo[]>("/sessions", whose, signal),
    tokens: await get<TokenInfo[]>("/tokens", whose, signal),
  }));
  const end = (path: string) =>
    void remove(path).then(reload, (reason: unknown) => toast(sentenceOf(reason), "bad"));
  const timeOf = (text: string) => shortTime(Date.parse(text), now.value, style.value);
  const isOwn = user.id === session.value?.id;
  const rows = [
    ...(value?.sessions ?? []).map((each) => ({
      path: `/sessions/${each.id}`,
      name: clientName(each.userAgent),
      isCurrent: each.current,
      note: [
        each.impersonatorId !== 0 && t("people.byAnother"),
        each.address && t("account.from", { address: each.address }),
        t("account.lastUsed", { time: timeOf(each.lastUsed) }),
      ],
    })),
    ...(value?.tokens ?? []).map((each) => ({
      path: `/tokens/${each.id}`,
      name: t("people.token"),
      isCurrent: each.current,
      note: [t("people.tokenSpan", { issued: timeOf(each.issued), expires: timeOf(each.expires) })],
    })),
  ];
  return (
    <section class="card" aria-labelledby="people-logins">
      <h2 id="people-logins">{t("people.logins")}</h2>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} />}
      {value && rows.length === 0 && <p class="card-text">{t("people.noLogins")}</p>}
      <ul class="people-list">
        {rows.map((row) => (
          <li key={row.path}>
            <div>
              <strong>{row.name}</strong>
              <small>{row.note.filter(Boolean).join(" · ")}</small>
            </div>
            {!row.isCurrent && !session.value?.viewOnly && (
              <button type="button" class="quiet" onClick={() => end(row.path)}>
                {t("account.endSession")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {rows.some(({ isCurrent }) => !isCurrent) && !isOwn && may("edit") && (
        <button type="button" onClick={() => setAsked(true)}>
          {t("people.signOut")}
        </button>
      )}
      {asked && (
        <Question
          title={t("people.signOutTitle", { name: nameOf(user) })}
          text={t("people.signOutText")}
          act={t("people.signOut")}
          run={async () => {
            await remove(`/sessions?userId=${user.id}`);
            for (const token of value?.tokens ?? []) await remove(`/tokens/${token.id}`);
            reload();
          }}
          onClose={() => setAsked(false)}
        />
      )}
    </section>
  );
}
