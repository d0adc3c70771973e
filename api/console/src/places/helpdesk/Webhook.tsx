import { useState } from "preact/hooks";
import { get, post } from "../../api/call";
import type { Company, Delivery, WebhookTest } from "../../api/types";
import { dayTime } from "../../format/times";
import { hasText, type Key, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { CopyField } from "../../parts/CopyField";
import { Empty } from "../../parts/Empty";
import { Check, Field, Select } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem, sentenceOf } from "../../parts/Problem";
import { Question } from "../../parts/Question";
import { toast } from "../../parts/Toast";
import { useDraft } from "../../records/drafts";
import { changeRecord, type RefusedField, refusedField } from "../../records/records";
import { useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import type { SectionProps } from "./CompanyPlace";
import { type Hook, hookOf, newSecret, STATES, TYPES, USUAL_TYPES } from "./webhook";

/** Rows of the log that are read at once. */
const PAGE = 50;

/** Messages about tickets to another program: where to, which, and what became of them. */
export function Webhook({ company, onChanged }: SectionProps) {
  const stored = hookOf(company.attributes);
  const [isBegun, setBegun] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  if (!stored && !isBegun) {
    return (
      <section class="card" aria-label={t("helpdesk.webhook")}>
        <h2>{t("helpdesk.webhook")}</h2>
        <Empty icon="share" title={t("helpdesk.noWebhook")} text={t("helpdesk.noWebhookText")}>
          <button type="button" class="primary" onClick={() => setBegun(true)}>
            {t("helpdesk.newWebhook")}
          </button>
        </Empty>
      </section>
    );
  }
  return (
    <>
      <Settings
        company={company}
        stored={stored}
        secret={secret}
        onSaved={(shown) => {
          if (shown) setSecret(shown);
          onChanged();
        }}
        onRemoved={() => {
          setBegun(false);
          setSecret(null);
          onChanged();
        }}
      />
      {stored && <Deliveries companyId={company.id} />}
    </>
  );
}

interface SettingsProps {
  company: Company;
  stored: Hook | null;
  /** One that was made just now: it is shown this once. */
  secret: string | null;
  onSaved: (secret: string | null) => void;
  onRemoved: () => void;
}

function Settings({ company, stored, secret, onSaved, onRemoved }: SettingsProps) {
  const draft = useDraft<Hook>(
    `webhook ${company.id}`,
    stored ?? { url: "", events: USUAL_TYPES, thin: false, disabled: false, disabledReason: "" },
  );
  const { url, events, thin } = draft.value;
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<RefusedField | null>(null);
  const [removing, setRemoving] = useState(false);
  const [renewing, setRenewing] = useState(false);

  async function store(change: { [name: string]: unknown }, shows: string | null): Promise<void> {
    await changeRecord<Company>("/companies", company.id, (now) => {
      const held = now.attributes.ticketWebhook;
      const before = typeof held === "object" && held !== null ? held : {};
      return { ...now, attributes: { ...now.attributes, ticketWebhook: { ...before, ...change } } };
    });
    onSaved(shows);
  }
  async function save(event: SubmitEvent) {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setRefused(null);
    try {
      const made = stored ? null : newSecret();
      await store({ url: url.trim(), events, thin, ...(made && { secret: made }) }, made);
      draft.clear();
      toast(t("common.saved"));
    } catch (problem) {
      setRefused(refusedField(problem) ?? { key: "", text: sentenceOf(problem) });
    } finally {
      setBusy(false);
    }
  }
  const isOfUrl = refused?.key.endsWith("url");
  return (
    <section class="card" aria-label={t("helpdesk.webhook")}>
      <h2>{t("helpdesk.webhook")}</h2>
      <p class="card-text">{t("helpdesk.webhookText")}</p>
      {stored?.disabled && (
        <div class="helpdesk-disabled" role="alert">
          <p>
            {t("helpdesk.hookDisabled")} {stored.disabledReason}
          </p>
          <button
            type="button"
            disabled={busy}
            onClick={() =>
              void store({ disabled: false }, null).catch((problem: unknown) =>
                toast(sentenceOf(problem), "bad"),
              )
            }
          >
            {t("helpdesk.hookAgain")}
          </button>
        </div>
      )}
      {secret && (
        <div class="record-kept" role="status">
          <p>{t("helpdesk.secretOnce")}</p>
          <CopyField label={t("helpdesk.secret")} value={secret} />
        </div>
      )}
      <form class="record-form" noValidate onSubmit={(event) => void save(event)}>
        <Field
          label={t("helpdesk.url")}
          type="url"
          placeholder="https://"
          value={url}
          disabled={busy}
          error={isOfUrl ? refused?.text : undefined}
          onInput={(event) => draft.set({ url: event.currentTarget.value })}
        />
        <fieldset class="helpdesk-fieldset">
          <legend>{t("helpdesk.messages")}</legend>
          <div class="form-grid">
            {TYPES.map((type) => (
              <Check
                key={type}
                label={typeText(type)}
                checked={events.includes(type)}
                disabled={busy}
                onChange={(wanted) =>
                  draft.set({
                    events: TYPES.filter((each) => (each === type ? wanted : events.includes(each))),
                  })
                }
              />
            ))}
          </div>
        </fieldset>
        <Check
          label={t("helpdesk.thin")}
          checked={thin}
          disabled={busy}
          onChange={(wanted) => draft.set({ thin: wanted })}
        />
        {refused && !isOfUrl && (
          <p class="refusal" role="alert">
            {refused.text}
          </p>
        )}
        <div class="button-row">
          <button type="submit" class="primary" disabled={busy || (stored !== null && !draft.isChanged)}>
            {t("common.save")}
          </button>
          {stored && (
            <>
              <button type="button" class="quiet" disabled={busy} onClick={() => setRenewing(true)}>
                <Icon name="key" size={16} />
                {t("helpdesk.newSecret")}
              </button>
              <button type="button" class="quiet dangerous" disabled={busy} onClick={() => setRemoving(true)}>
                <Icon name="trash" size={16} />
                {t("common.delete")}
              </button>
            </>
          )}
        </div>
      </form>
      {stored && <Test companyId={company.id} isChanged={draft.isChanged} />}
      {renewing && (
        <Question
          title={t("helpdesk.newSecret")}
          text={t("helpdesk.newSecretText")}
          act={t("helpdesk.newSecret")}
          run={async () => {
            const made = newSecret();
            await store({ secret: made }, made);
          }}
          onClose={() => setRenewing(false)}
        />
      )}
      {removing && (
        <Question
          title={t("record.deleteTitle", { name: t("helpdesk.webhook") })}
          text={t("helpdesk.deleteWebhookText")}
          act={t("common.delete")}
          run={async () => {
            await changeRecord<Company>("/companies", company.id, (now) => {
              const { ticketWebhook: _, ...others } = now.attributes;
              return { ...now, attributes: others };
            });
            draft.clear();
            onRemoved();
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </section>
  );
}

function typeText(type: string): string {
  const key = `helpdesk.type.${type}`;
  return hasText(key) ? t(key) : type;
}

/** Why an attempt failed, in words. */
function errorText(error: string | null): string {
  const key = `helpdesk.failure.${error}`;
  return hasText(key) ? t(key) : (error ?? "");
}

/** Sends a message now, and says what came of it. */
function Test({ companyId, isChanged }: { companyId: number; isChanged: boolean }) {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ text: string; isBad: boolean } | null>(null);
  const run = async () => {
    setBusy(true);
    setSaid(null);
    try {
      const found = await post<WebhookTest>(`/companies/${companyId}/webhook/test`, {});
      const detail = [found.status, found.address, found.answer].filter(Boolean).join(" · ");
      const text = found.delivered ? t("helpdesk.delivered") : errorText(found.error);
      setSaid({ text: detail ? `${text} (${detail})` : text, isBad: !found.delivered });
    } catch (problem) {
      setSaid({ text: sentenceOf(problem), isBad: true });
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="button-row">
      <button type="button" disabled={busy || isChanged} onClick={() => void run()}>
        {t("helpdesk.test")}
      </button>
      <p role="status" class={said?.isBad ? "refusal" : ""}>
        {said?.text ?? (isChanged ? t("helpdesk.testSaved") : "")}
      </p>
    </div>
  );
}

/** The messages and what became of them, the newest first. */
function Deliveries({ companyId }: { companyId: number }) {
  const [state, setState] = useState("");
  const [limit, setLimit] = useState(PAGE);
  const path = `/companies/${companyId}/webhook/deliveries`;
  const query = { state, limit: limit + 1 };
  const { value, problem, reload } = useLoaded(`${path} ${JSON.stringify(query)}`, (signal) =>
    get<readonly Delivery[]>(path, query, signal),
  );
  const retry = async (delivery: Delivery) => {
    try {
      await post(`${path}/${delivery.id}/retry`, {});
      toast(t("helpdesk.sentAgain"));
      reload();
    } catch (reason) {
      toast(sentenceOf(reason), "bad");
    }
  };
  return (
    <section class="card" aria-label={t("helpdesk.log")}>
      <header class="page-head">
        <h2>{t("helpdesk.log")}</h2>
        <button type="button" class="quiet" onClick={reload}>
          <Icon name="reload" size={16} />
          {t("helpdesk.reload")}
        </button>
      </header>
      <Select
        label={t("helpdesk.state")}
        value={state}
        choices={["", ...STATES].map((each) => ({
          value: each,
          label: t(each ? (`helpdesk.state.${each}` as Key) : "helpdesk.any"),
        }))}
        onChange={setState}
      />
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={4} />}
      {value?.length === 0 && <Empty title={t("helpdesk.noMessages")} text={t("helpdesk.noMessagesText")} />}
      <ul class="record-rows">
        {(value ?? []).slice(0, limit).map((each) => (
          <li key={each.id}>
            <div>
              <strong>{typeText(each.type)}</strong>
              <small class={`helpdesk-state ${each.state}`}>{t(`helpdesk.state.${each.state}` as Key)}</small>
              <p>
                {dayTime(Date.parse(each.createdAt), style.value)}
                {each.ticketId > 0 && (
                  <>
                    {" · "}
                    <Link to={`/tickets/${each.ticketId}`}>{t("helpdesk.theTicket")}</Link>
                  </>
                )}
                {each.attempts.length > 0 && ` · ${t("helpdesk.attempts", { count: each.attempts.length })}`}
                {each.state !== "delivered" && each.reason && ` · ${errorText(each.reason)}`}
                {each.nextAttempt &&
                  ` · ${t("helpdesk.nextAttempt", { time: dayTime(Date.parse(each.nextAttempt), style.value) })}`}
              </p>
            </div>
            {each.state !== "waiting" && (
              <button type="button" class="quiet" onClick={() => void retry(each)}>
                {t("helpdesk.sendAgain")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {(value?.length ?? 0) > limit && (
        <button type="button" class="quiet" onClick={() => setLimit(limit + PAGE)}>
          {t("record.showMore")}
        </button>
      )}
    </section>
  );
}
