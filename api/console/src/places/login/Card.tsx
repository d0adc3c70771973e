import type { ComponentChildren } from "preact";
import { LANGUAGES, language, t } from "../../i18n/translate";
import { Select } from "../../parts/Field";
import { readIn, server, session } from "../../state/session";
import "./login.css";

/** What somebody sees who is not logged in, or not yet for everything. */
export function Card({
  title,
  text,
  children,
}: {
  title: string;
  text?: string;
  children: ComponentChildren;
}) {
  return (
    <main class="login">
      <div class="login-card">
        <img src="/console/icon.svg" alt="" width={48} height={48} />
        <h1>{title}</h1>
        {text && <p class="login-text">{text}</p>}
        {children}
        {!session.value && !server.value?.forceSettings && <LanguageChoice />}
      </div>
    </main>
  );
}

/** The languages by their own names, for readers who do not understand the one that is shown. */
function LanguageChoice() {
  return (
    <div class="login-language">
      <Select
        label={t("account.language")}
        value={language.value}
        choices={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
        onChange={(code) => void readIn(code)}
      />
    </div>
  );
}
