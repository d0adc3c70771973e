import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { logout } from "../../state/session";

/** Log out, or say why that failed. */
export function logOut(): void {
  logout().catch((problem: unknown) => toast(t("frame.noLogout", { reason: sentenceOf(problem) }), "bad"));
}
