import { useState } from "preact/hooks";
import { address, Problem } from "../../api/call";
import { t } from "../../i18n/translate";
import { linkTokens } from "../../linkTokens";
import { Field } from "../../parts/Field";
import { sentenceOf } from "../../parts/Problem";
import { login } from "../../state/session";
import { PasswordField } from "./PasswordField";

/** Creates a user, on a new server its administrator, and logs in. */
export function RegisterForm({ isNew, onDone }: { isNew: boolean; onDone: () => void }) {
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const email = String(fields.get("email"));
    const password = String(fields.get("password"));
    setBusy(true);
    setSaid("");
    try {
      await create({ name: email, email, password });
      await login(email, password);
      onDone();
    } catch (problem) {
      setSaid(sentenceOf(problem));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form class="login-form" onSubmit={(event) => void submit(event)}>
      <Field
        label={t("login.email")}
        name="email"
        inputMode="email"
        autocomplete="username"
        required
        autofocus
      />
      <PasswordField
        label={t("login.password")}
        name="password"
        autocomplete="new-password"
        hint={t("login.registerText")}
      />
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
      <button type="submit" class="primary" disabled={busy}>
        {t(isNew ? "login.create" : "login.register")}
      </button>
    </form>
  );
}

/** Only this request has the set-up token (docs/users.md#the-first-user). */
async function create(user: { name: string; email: string; password: string }): Promise<void> {
  const headers = {
    "Content-Type": "application/json",
    ...(linkTokens.setup && { "X-Setup-Token": linkTokens.setup }),
  };
  const answer = await fetch(address("/users"), {
    method: "POST",
    credentials: "same-origin",
    headers,
    body: JSON.stringify(user),
  });
  if (!answer.ok) throw new Problem(answer.status, await answer.text());
}
