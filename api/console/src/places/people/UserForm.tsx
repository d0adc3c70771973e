import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { User } from "../../api/types";
import { t } from "../../i18n/translate";
import { Check, Field, Select } from "../../parts/Field";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { useDraft } from "../../records/drafts";
import { Conflict, type RefusedField, refusedField, saveRecord } from "../../records/records";
import { go } from "../../router";
import { merged } from "../../state/edits";
import { may, server, session, style } from "../../state/session";
import { localText, readLocal } from "../../time/local";
import { NumberField } from "../zones/NumberField";
import { invite } from "./UserActs";
import { nameOf, RESTRICTIONS, restrictionLabel, untoldPassword } from "./users";

const MOST = 1_000_000;

interface UserFormProps {
  /** Null for a new one. */
  stored: User | null;
  blank: User;
  onSaved: () => void;
}

/** What a user is called, is and may do. */
export function UserForm({ stored, blank, onSaved }: UserFormProps) {
  const [base, setBase] = useState<User | null>(stored);
  const draft = useDraft<User>(`/users ${stored?.id ?? "new"}`, base ?? blank);
  const [password, setPassword] = useState("");
  const mayMail = Boolean(server.value?.emailEnabled);
  const [invites, setInvites] = useState(mayMail);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<RefusedField | null>(null);
  const { value, set } = draft;
  const isOwn = stored?.id === session.value?.id;
  const fixed = busy || !may("edit");
  const shown = new Set<string>();
  const errorOf = (key: string) => {
    shown.add(key);
    return refused?.key === key ? refused.text : undefined;
  };

  async function save(event: SubmitEvent) {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setRefused(null);
    try {
      const sent = { ...value, password: passwordOf(base === null && invites, password) };
      const saved = await saveRecord<User>("/users", base, sent);
      draft.clear();
      setPassword("");
      setBase(saved);
      toast(t("common.saved"));
      if (base === null) {
        // The user is there, whatever becomes of the mail.
        if (invites) await mailInvitation(saved);
        go(`/admin/users/${saved.id}`, { replace: true });
      } else onSaved();
    } catch (problem) {
      if (problem instanceof Conflict && base) {
        const theirs = problem.theirs as User;
        set(merged(base, value, theirs));
        setBase(theirs);
        const fields = new Intl.ListFormat(style.value.language).format(problem.fields);
        setRefused({ key: "", text: t("people.conflict", { fields }) });
      } else setRefused(refusedField(problem) ?? { key: "", text: sentenceOf(problem) });
    } finally {
      setBusy(false);
    }
  }

  const text = (field: "name" | "email" | "login" | "phone", kind: "text" | "email" | "tel" = "text") => (
    <Field
      label={t(`people.${field}`)}
      type={kind}
      value={value[field] ?? ""}
      maxLength={128}
      autocomplete="off"
      disabled={fixed}
      error={errorOf(field)}
      onInput={(event) =>
        set({ [field]: event.currentTarget.value || (field === "email" ? "" : null) } as Partial<User>)
      }
    />
  );
  const form = (
    <>
      <Part title={t("people.person")}>
        {text("name")}
        {text("email", "email")}
        {text("login")}
        {text("phone", "tel")}
        {base === null && mayMail && (
          <Select
            label={t("people.firstPassword")}
            value={invites ? "mail" : "typed"}
            choices={[
              { value: "mail", label: t("people.byMail") },
              { value: "typed", label: t("people.typed") },
            ]}
            disabled={fixed}
            onChange={(chosen) => setInvites(chosen === "mail")}
          />
        )}
        {!isOwn && (base !== null || !invites) && may("edit") && (
          <Field
            label={t(base ? "people.newPassword" : "people.password")}
            type="password"
            autocomplete="new-password"
            value={password}
            hint={t(base ? "people.newPasswordHint" : "people.passwordHint")}
            disabled={fixed}
            error={errorOf("password")}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        )}
      </Part>
      {may("administer") && !value.temporary && (
        <RoleFields value={value} set={set} disabled={fixed} errorOf={errorOf} />
      )}
      {!value.administrator && !isOwn && (
        <Part title={t("people.restrictions")}>
          {RESTRICTIONS.map((flag) => (
            <Restriction
              key={flag}
              label={t(restrictionLabel(flag))}
              hint={t(`people.${flag}Text`)}
              checked={value[flag]}
              disabled={fixed}
              error={errorOf(flag)}
              onChange={(checked) => set({ [flag]: checked } as Partial<User>)}
            />
          ))}
        </Part>
      )}
      {!isOwn && (
        <Part title={t("people.ends")}>
          <Field
            label={t("people.expires")}
            type="datetime-local"
            value={value.expirationTime ? localText(Date.parse(value.expirationTime), style.value.zone) : ""}
            hint={t("people.expiresHint")}
            disabled={fixed}
            error={errorOf("expirationTime")}
            onInput={(event) => {
              const at = readLocal(event.currentTarget.value, style.value.zone);
              set({ expirationTime: at === null ? null : new Date(at).toISOString() });
            }}
          />
        </Part>
      )}
    </>
  );
  const isChanged = base === null || draft.isChanged || password !== "";
  return (
    <form
      class="people-form"
      aria-label={base ? nameOf(base) : t("people.newUser")}
      noValidate
      onSubmit={(event) => void save(event)}
    >
      {form}
      {refused && !shown.has(refused.key) && (
        <p class="refusal" role="alert">
          {refused.key ? `${refused.key}: ${refused.text}` : refused.text}
        </p>
      )}
      {may("edit") && (
        <div class="button-row">
          <button type="submit" class="primary" disabled={busy || !isChanged}>
            {t(base ? "common.save" : invites ? "people.makeAndInvite" : "people.make")}
          </button>
          {base !== null && draft.isChanged && (
            <button type="button" disabled={busy} onClick={draft.clear}>
              {t("people.discard")}
            </button>
          )}
        </div>
      )}
    </form>
  );
}

function passwordOf(invites: boolean, typed: string): string | null {
  if (invites) return untoldPassword();
  return typed || null;
}

async function mailInvitation(user: User): Promise<void> {
  try {
    await invite(user.id);
    toast(t("people.invited", { email: user.email }));
  } catch (problem) {
    toast(t("people.notInvited", { reason: sentenceOf(problem) }), "bad");
  }
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <div class="people-fields">{children}</div>
    </section>
  );
}

interface RestrictionProps {
  label: string;
  hint: string;
  checked: boolean;
  disabled: boolean;
  error: string | undefined;
  onChange: (checked: boolean) => void;
}

function Restriction({ error, ...rest }: RestrictionProps) {
  return (
    <div>
      <Check {...rest} />
      {error && (
        <p class="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

interface RoleFieldsProps {
  value: User;
  set: (change: Partial<User>) => void;
  disabled: boolean;
  errorOf: (key: string) => string | undefined;
}

/** What only administrators change. */
function RoleFields({ value, set, disabled, errorOf }: RoleFieldsProps) {
  const role = value.administrator ? "administrator" : value.userLimit === 0 ? "user" : "manager";
  const refusal = errorOf("administrator") ?? errorOf("userLimit") ?? errorOf("deviceLimit");
  return (
    <Part title={t("people.role")}>
      <Select
        label={t("people.role")}
        value={role}
        choices={(["user", "manager", "administrator"] as const).map((each) => ({
          value: each,
          label: t(`people.role.${each}`),
        }))}
        hint={t(`people.role.${role}.text`)}
        error={refusal}
        disabled={disabled}
        onChange={(chosen) =>
          set({
            administrator: chosen === "administrator",
            userLimit: chosen === "manager" ? value.userLimit || -1 : 0,
          })
        }
      />
      {role === "manager" && (
        <Limit
          label={t("people.userLimit")}
          value={value.userLimit}
          least={1}
          disabled={disabled}
          onChange={(userLimit) => set({ userLimit })}
        />
      )}
      {role !== "administrator" && (
        <Limit
          label={t("people.deviceLimit")}
          value={value.deviceLimit}
          least={0}
          disabled={disabled}
          onChange={(deviceLimit) => set({ deviceLimit })}
        />
      )}
    </Part>
  );
}

interface LimitProps {
  label: string;
  /** Negative: none. */
  value: number;
  least: number;
  disabled: boolean;
  onChange: (value: number) => void;
}

function Limit({ label, value, least, disabled, onChange }: LimitProps) {
  return (
    <NumberField
      label={label}
      value={value < 0 ? null : value}
      least={least}
      most={MOST}
      optional
      placeholder={t("people.unlimited")}
      disabled={disabled}
      onChange={(typed) => onChange(typed === null ? -1 : Math.round(typed))}
    />
  );
}
