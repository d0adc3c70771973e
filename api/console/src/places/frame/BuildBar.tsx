import { t } from "../../i18n/translate";
import { outdated } from "../../state/build";

/** Says that the server has another build of the page. */
export function BuildBar() {
  if (!outdated.value) return null;
  return (
    <div class="build-bar" role="status">
      {t("frame.newBuild")}
      <button type="button" class="link" onClick={() => window.location.reload()}>
        {t("frame.reload")}
      </button>
    </div>
  );
}
