import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { server } from "../../state/session";
import { LoginForm } from "../login/LoginForm";
import { ProviderLink } from "../login/ProviderLink";

/** The session ended under an open page: log in over it, then go on. */
export function SessionDialog() {
  return (
    <Dialog title={t("frame.sessionOver")}>
      <p>{t("frame.sessionOverText")}</p>
      {!server.value?.openIdForce && <LoginForm />}
      {server.value?.openIdEnabled && <ProviderLink />}
    </Dialog>
  );
}
