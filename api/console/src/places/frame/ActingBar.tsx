import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import { actBack, session } from "../../state/session";

/** Says that the page is another user's, or shows what they see, and leads back. */
export function ActingBar() {
  const user = session.value;
  if (!user?.impersonatorId) return null;
  const name = user.name || user.email;
  const back = () => actBack().catch((problem: unknown) => toast(sentenceOf(problem), "bad"));
  return (
    <section class="acting-bar" aria-label={t("frame.acting", { name })}>
      <Icon name="user" size={16} />
      <span>{t(user.viewOnly ? "frame.viewing" : "frame.acting", { name })}</span>
      <button type="button" class="link" onClick={() => void back()}>
        {t("frame.back", { name: user.impersonatorName ?? "" })}
      </button>
    </section>
  );
}
