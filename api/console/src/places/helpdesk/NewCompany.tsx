import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { User } from "../../api/types";
import { BlockFields } from "../../calendars/BlockFields";
import { type Block, calendarText, encoded, FIRST_BLOCK, isWhole } from "../../calendars/blocks";
import { WeekPicture } from "../../calendars/DaysPicture";
import { ZonePicker } from "../../calendars/ZonePicker";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Field } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Picker } from "../../parts/Picker";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { useDraft } from "../../records/drafts";
import { go } from "../../router";
import { read, useLoaded } from "../../state/responseCache";
import { may, session, style } from "../../state/session";
import "./helpdesk.css";
import { type Made, StepFailed, setUp } from "./setUp";

interface Form {
  name: string;
  zone: string;
  always: boolean;
  blocks: readonly Block[];
  memberIds: readonly number[];
}

/** A new company in three answers: its name, when it works, and who works there. */
export default function NewCompany() {
  const user = session.value;
  const draft = useDraft<Form>("new company", {
    name: "",
    zone: style.value.zone,
    always: false,
    blocks: [FIRST_BLOCK],
    memberIds: user ? [user.id] : [],
  });
  const { name, zone, always, blocks, memberIds } = draft.value;
  const made = useRef<Made>({});
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ field: "name" | "hours" | ""; text: string } | null>(null);
  useEffect(() => {
    document.title = `${t("frame.newCompany")} · Motorpool`;
  }, []);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (busy) return;
    if (name.trim() === "") return setSaid({ field: "name", text: t("helpdesk.needsName") });
    if (!always && !blocks.every(isWhole)) return setSaid({ field: "hours", text: t("helpdesk.needsHours") });
    setBusy(true);
    setSaid(null);
    try {
      const wanted = {
        name,
        zone,
        hours: always ? null : blocks,
        calendarName: t("helpdesk.hoursOf", { name }),
        teamName: t("helpdesk.firstTeam"),
        memberIds,
      };
      const id = await setUp(wanted, made.current);
      draft.clear();
      toast(t("helpdesk.made", { name }));
      go(`/helpdesk/${id}`, { replace: true });
    } catch (problem) {
      const step = problem instanceof StepFailed ? problem.step : "company";
      const reason = sentenceOf(problem instanceof StepFailed ? problem.cause : problem);
      const text = made.current.companyId
        ? t("helpdesk.stepFailed", { step: t(`helpdesk.step.${step}`), reason })
        : reason;
      setSaid({ field: step === "company" ? "name" : "", text });
      setBusy(false);
    }
  }
  const errorOf = (field: string) => (said?.field === field ? said.text : undefined);
  return (
    <div class="page helpdesk">
      <Link class="helpdesk-back" to="/helpdesk">
        <Icon name="back" size={16} />
        {t("frame.helpdesk")}
      </Link>
      <h1>{t("frame.newCompany")}</h1>
      <p class="helpdesk-lead">{t("helpdesk.newCompanyText")}</p>
      <form class="helpdesk-guide" noValidate onSubmit={(event) => void submit(event)}>
        <Part number={1} title={t("helpdesk.whoAreYou")}>
          <Field
            label={t("helpdesk.companyName")}
            value={name}
            maxLength={128}
            autofocus
            error={errorOf("name")}
            disabled={busy || made.current.companyId !== undefined}
            onInput={(event) => draft.set({ name: event.currentTarget.value })}
          />
          <ZonePicker value={zone} disabled={busy} onChange={(chosen) => draft.set({ zone: chosen })} />
        </Part>
        <Part number={2} title={t("helpdesk.whenOpen")} text={t("helpdesk.whenOpenText")}>
          <div class="helpdesk-choice" role="radiogroup" aria-label={t("helpdesk.whenOpen")}>
            {[false, true].map((each) => (
              <label key={String(each)} class="field">
                <input
                  type="radio"
                  name="always"
                  checked={always === each}
                  disabled={busy}
                  onChange={() => draft.set({ always: each })}
                />
                {t(each ? "helpdesk.always" : "helpdesk.someHours")}
              </label>
            ))}
          </div>
          {!always && (
            <BlockFields
              blocks={blocks}
              disabled={busy}
              onChange={(changed) => draft.set({ blocks: changed })}
            />
          )}
          {errorOf("hours") && (
            <p class="field-error" role="alert">
              {errorOf("hours")}
            </p>
          )}
          {(always || blocks.every(isWhole)) && (
            <WeekPicture
              label={t("helpdesk.hoursPicture")}
              calendar={
                always
                  ? null
                  : { data: encoded(calendarText({ blocks, exceptions: [], zone })), attributes: {} }
              }
              zone={zone}
            />
          )}
        </Part>
        <Part number={3} title={t("helpdesk.whoWorks")} text={t("helpdesk.whoWorksText")}>
          <Workers
            ids={memberIds}
            disabled={busy}
            onChange={(changed) => draft.set({ memberIds: changed })}
          />
        </Part>
        {said?.field === "" && (
          <p class="refusal" role="alert">
            {said.text}
          </p>
        )}
        <div class="form-end">
          <button type="submit" class="primary" disabled={busy}>
            {t(made.current.companyId ? "helpdesk.goOn" : "helpdesk.setItUp")}
          </button>
        </div>
      </form>
    </div>
  );
}

interface PartProps {
  number: number;
  title: string;
  text?: string;
  children: ComponentChildren;
}

function Part({ number, title, text, children }: PartProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>
        <span class="helpdesk-number" aria-hidden="true">
          {number}
        </span>
        {title}
      </h2>
      {text && <p class="card-text">{text}</p>}
      {children}
    </section>
  );
}

interface WorkersProps {
  ids: readonly number[];
  disabled: boolean;
  onChange: (ids: readonly number[]) => void;
}

/** Who handles tickets: the reader, and users whom the reader manages. */
function Workers({ ids, disabled, onChange }: WorkersProps) {
  const managesUsers = may("manageUsers");
  const users = useLoaded(`users ${managesUsers}`, () =>
    managesUsers ? read<User[]>("/users", { excludeAttributes: true }) : Promise.resolve([]),
  );
  const self = session.value;
  const others = (users.value ?? []).filter(({ id, temporary }) => id !== self?.id && !temporary);
  const known = self ? [self, ...others] : others;
  const nameOf = (user: User) => user.name || user.email;
  return (
    <>
      <ul class="helpdesk-people">
        {ids.map((id) => {
          const user = known.find((each) => each.id === id);
          if (!user) return null;
          return (
            <li key={id} class="badge">
              {id === self?.id ? t("helpdesk.you", { name: nameOf(user) }) : nameOf(user)}
              <button
                type="button"
                class="icon-button small"
                disabled={disabled}
                aria-label={t("record.remove", { name: nameOf(user) })}
                onClick={() => onChange(ids.filter((each) => each !== id))}
              >
                <Icon name="close" size={14} />
              </button>
            </li>
          );
        })}
      </ul>
      <Picker
        label={t("helpdesk.addPerson")}
        items={known
          .filter(({ id }) => !ids.includes(id))
          .map((user) => ({ id: user.id, name: nameOf(user), note: user.email }))}
        value={null}
        placeholder={t("helpdesk.findPerson")}
        disabled={disabled}
        onChange={(id) => {
          if (id !== null) onChange([...ids, Number(id)]);
        }}
      />
      {!managesUsers && <p class="field-hint">{t("helpdesk.onlyYou")}</p>}
    </>
  );
}
