import { useState } from "preact/hooks";
import { post } from "../../api/call";
import { t } from "../../i18n/translate";
import { may, saveUser, session } from "../../state/session";
import { CodesForm } from "./CodesForm";
import { Section } from "./Section";
import { useSaving } from "./useSaving";

/** One-time codes at the login. */
export function Codes() {
  const { busy, said, save } = useSaving();
  const [secret, setSecret] = useState<string | null>(null);
  const user = session.value;
  if (!user || !may("edit")) return null;

  async function begin() {
    await save(async () => setSecret(await post<string>("/users/totp")), t("account.totpReady"));
  }

  async function set(key: string, currentPassword: string) {
    const done = t(key ? "account.totpIsOn" : "account.totpIsOff");
    if (await save(() => saveUser({ totpKey: key, currentPassword }), done)) setSecret(null);
  }

  return (
    <Section name="codes" title={t("account.totp")} text={t("account.totpText")} said={said}>
      {secret === null ? (
        <div class="button-row">
          <button type="button" disabled={busy} onClick={() => void begin()}>
            {t("account.totpBegin")}
          </button>
          <button type="button" class="quiet" onClick={() => setSecret("")}>
            {t("account.totpOff")}
          </button>
        </div>
      ) : (
        <CodesForm
          secret={secret}
          email={user.email}
          busy={busy}
          onSubmit={(currentPassword) => void set(secret, currentPassword)}
          onCancel={() => setSecret(null)}
          cancel={t("common.cancel")}
        />
      )}
    </Section>
  );
}
