import { useState } from "preact/hooks";
import { post } from "../../api/call";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { PasswordField } from "./PasswordField";

/** Sets a new password by the token of a mailed link. */
export function ResetForm({ token, onDone }: { token: string; onDone: (text: string) => void }) {
  const [said, setSaid] = useState("");

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const password = String(fields.get("password"));
    if (password !== fields.get("again")) {
      setSaid(t("login.different"));
      return;
    }
    try {
      await post("/password/update", new URLSearchParams({ token, password }));
      onDone(t("login.passwordSet"));
    } catch (problem) {
      setSaid(sentenceOf(problem));
    }
  }

  return (
    <form class="login-form" onSubmit={(event) => void submit(event)}>
      <PasswordField label={t("login.newPassword")} name="password" autocomplete="new-password" />
      <PasswordField label={t("login.again")} name="again" autocomplete="new-password" />
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
      <button type="submit" class="primary">
        {t("login.setPassword")}
      </button>
      <button type="button" class="link" onClick={() => onDone("")}>
        {t("login.back")}
      </button>
    </form>
  );
}
