import { t } from "../../i18n/translate";
import { Dialog } from "../../parts/Dialog";
import { LoginForm } from "../login/LoginForm";

/** The session ended under an open page: log in over it, then go on. */
export function SessionDialog() {
  return (
    <Dialog title={t("frame.sessionOver")}>
      <p>{t("frame.sessionOverText")}</p>
      <LoginForm />
    </Dialog>
  );
}
