import { useEffect, useState } from "preact/hooks";
import { post } from "../../api/call";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { limited, setUpCodes } from "../../state/session";
import { CodesForm } from "../account/CodesForm";
import { useSaving } from "../account/useSaving";
import { logOut } from "../frame/logOut";
import { Card } from "./Card";

/** One-time codes, which the server demands before it serves anything else. */
export default function SetUpCodes() {
  const { busy, said, setSaid, save } = useSaving();
  const [secret, setSecret] = useState("");
  const user = limited.value;

  useEffect(() => {
    post<string>("/users/totp").then(setSecret, (problem) => setSaid(sentenceOf(problem)));
  }, []);

  async function set(currentPassword: string) {
    await save(() => setUpCodes(secret, currentPassword), t("account.totpIsOn"));
  }

  return (
    <Card title={t("account.totp")} text={t("login.codesNeeded")}>
      {user && secret && (
        <CodesForm
          secret={secret}
          email={user.email}
          busy={busy}
          onSubmit={(currentPassword) => void set(currentPassword)}
          onCancel={logOut}
          cancel={t("frame.logout")}
        />
      )}
      {said && (
        <p class="refusal" role="alert">
          {said}
        </p>
      )}
    </Card>
  );
}
