import { useState } from "preact/hooks";
import { address, Problem, post, put } from "../../api/call";
import { t } from "../../i18n/translate";
import { linkTokens } from "../../linkTokens";
import { Field } from "../../parts/Field";
import { sentenceOf } from "../../parts/Problem";
import { login } from "../../state/session";
import { StreetsChoice } from "../server/StreetsChoice";
import { type Streets, settingsOf } from "../server/streets";
import { PasswordField } from "./PasswordField";
import { setupHeaders } from "./setup";

interface RegisterFormProps {
  isNew: boolean;
  /** What the first administrator chooses; null where nobody is asked. */
  streets: Streets | null;
  onStreets: (streets: Streets) => void;
  onDone: () => void;
}

/** Creates a user, on a new server its administrator, and logs in. */
export function RegisterForm({ isNew, streets, onStreets, onDone }: RegisterFormProps) {
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const [asksToken] = useState(isNew && !linkTokens.setup);
  const [created, setCreated] = useState(false);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const email = String(fields.get("email"));
    const password = String(fields.get("password"));
    setBusy(true);
    setSaid("");
    if (asksToken) linkTokens.setup = String(fields.get("setup")).trim();
    try {
      if (!created) await create({ name: email, email, password });
      setCreated(true);
      if (streets && streets.kind !== "openfreemap") {
        // Before any map is shown; the page is loaded anew, since its policy is that of another map.
        await post("/session", new URLSearchParams({ email, password }));
        await put("/server/settings", { map: settingsOf(streets) });
        window.location.replace("/fleet");
        return;
      }
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
      {asksToken && (
        <Field
          label={t("login.setupToken")}
          name="setup"
          hint={t("login.setupTokenText")}
          autocomplete="off"
          required
          autofocus
        />
      )}
      <Field
        label={t("login.email")}
        name="email"
        inputMode="email"
        autocomplete="username"
        required
        autofocus={!asksToken}
      />
      <PasswordField
        label={t("login.password")}
        name="password"
        autocomplete="new-password"
        hint={t("login.registerText")}
      />
      {streets && <StreetsChoice value={streets} onChange={onStreets} />}
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

async function create(user: { name: string; email: string; password: string }): Promise<void> {
  const answer = await fetch(address("/users"), {
    method: "POST",
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", ...setupHeaders() },
    body: JSON.stringify(user),
  });
  if (!answer.ok) throw new Problem(answer.status, await answer.text());
}
