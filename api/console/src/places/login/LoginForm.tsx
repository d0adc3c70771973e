import { useState } from "preact/hooks";
import { Problem } from "../../api/call";
import { t } from "../../i18n/translate";
import { Field } from "../../parts/Field";
import { sentenceOf } from "../../parts/Problem";
import { login, session } from "../../state/session";
import { PasswordField } from "./PasswordField";

/** E-mail, password and, where it is asked for, a one-time code. */
export function LoginForm({ onDone }: { onDone?: () => void }) {
  const [asksCode, setAsksCode] = useState(false);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(fields.get(name) ?? "");
    setBusy(true);
    setSaid("");
    try {
      await login(text("email"), text("password"), text("code").replace(/\s/g, ""));
      onDone?.();
    } catch (problem) {
      if (problem instanceof Problem && problem.scheme === "TOTP") setAsksCode(true);
      else if (problem instanceof Problem && problem.status === 401) {
        setSaid(t(asksCode ? "login.wrongCode" : "login.wrong"));
      } else setSaid(sentenceOf(problem));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form class="login-form" onSubmit={(event) => void submit(event)}>
      <Field
        label={t("login.email")}
        name="email"
        type="text"
        inputMode="email"
        autocomplete="username"
        required
        autofocus={!session.value}
        defaultValue={session.value?.email ?? ""}
      />
      <PasswordField label={t("login.password")} name="password" autocomplete="current-password" />
      {asksCode && (
        <Field
          label={t("login.code")}
          name="code"
          inputMode="numeric"
          autocomplete="one-time-code"
          pattern="[0-9 ]{6,7}"
          maxLength={7}
          hint={t("login.codeText")}
          required
          autofocus
        />
      )}
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
      <button type="submit" class="primary" disabled={busy}>
        {t("login.submit")}
      </button>
    </form>
  );
}
