import { useEffect, useState } from "preact/hooks";
import { post } from "../../api/call";
import { t } from "../../i18n/translate";
import { linkTokens } from "../../linkTokens";
import { Field } from "../../parts/Field";
import { sentenceOf } from "../../parts/Problem";
import { go, location } from "../../router";
import { server, session } from "../../state/session";
import { StreetsChoice } from "../server/StreetsChoice";
import type { Streets } from "../server/streets";
import { Card } from "./Card";
import { keepStreets, useUnsetStreets } from "./firstStreets";
import { LoginForm } from "./LoginForm";
import { ProviderLink } from "./ProviderLink";
import { RegisterForm } from "./RegisterForm";
import { ResetForm } from "./ResetForm";

type View = "login" | "register" | "reset" | "forgotten";

/** Login, registration, and the way back for a forgotten password. */
export default function Login() {
  const isNew = server.value?.newServer ?? false;
  const [view, setView] = useState<View>(linkTokens.passwordReset ? "reset" : isNew ? "register" : "login");
  const [streets, setStreets] = useState<Streets>({ kind: "openfreemap", own: "", file: "" });
  const asked = useUnsetStreets(isNew) ? streets : null;
  const [said, setSaid] = useState(linkTokens.openid === "cancelled" ? t("login.cancelled") : "");

  function done() {
    const { path } = location.value;
    if (path === "/login" || path === "/reset-password") go("/fleet", { replace: true });
  }

  const logged = session.value !== null && view !== "reset";
  useEffect(() => {
    if (logged) done();
  }, [logged]);
  if (view === "reset") {
    return (
      <Card title={t("login.resetTitle")}>
        <ResetForm
          token={linkTokens.passwordReset ?? ""}
          onDone={(text) => {
            linkTokens.passwordReset = null;
            setSaid(text);
            setView("login");
          }}
        />
      </Card>
    );
  }
  if (view === "register") {
    return (
      <Card
        title={t(isNew ? "login.newServer" : "login.register")}
        text={t(isNew ? "login.newServerText" : "login.registerText")}
      >
        {!server.value?.openIdForce ? (
          <RegisterForm isNew={isNew} streets={asked} onStreets={setStreets} onDone={done} />
        ) : (
          asked && <StreetsChoice value={asked} onChange={setStreets} />
        )}
        {isNew && server.value?.openIdEnabled && <ProviderLink onLeave={() => keepStreets(asked)} />}
        {!isNew && <Other onClick={() => setView("login")} label={t("login.haveAccount")} />}
      </Card>
    );
  }
  if (view === "forgotten") {
    return (
      <Card title={t("login.forgotten")}>
        <Forgotten
          onDone={() => {
            setSaid(t("login.mailed"));
            setView("login");
          }}
        />
        <Other onClick={() => setView("login")} label={t("login.back")} />
      </Card>
    );
  }
  return (
    <Card
      title={server.value?.attributes.title ? String(server.value.attributes.title) : "Motorpool"}
      text={said || t("login.text")}
    >
      {server.value?.announcement && <p class="announcement">{server.value.announcement}</p>}
      {!server.value?.openIdForce && <LoginForm onDone={done} />}
      {server.value?.openIdEnabled && <ProviderLink />}
      {server.value?.emailEnabled && !server.value.openIdForce && (
        <Other onClick={() => setView("forgotten")} label={t("login.forgotten")} />
      )}
      {server.value?.registration && !server.value.openIdForce && (
        <Other onClick={() => setView("register")} label={t("login.register")} />
      )}
    </Card>
  );
}

function Other({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" class="link" onClick={onClick}>
      {label}
    </button>
  );
}

function Forgotten({ onDone }: { onDone: () => void }) {
  const [said, setSaid] = useState("");
  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const email = String(new FormData(event.currentTarget as HTMLFormElement).get("email"));
    try {
      await post("/password/reset", new URLSearchParams({ email }));
      onDone();
    } catch (problem) {
      setSaid(sentenceOf(problem));
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
        error={said || undefined}
      />
      <button type="submit" class="primary">
        {t("login.sendLink")}
      </button>
    </form>
  );
}
