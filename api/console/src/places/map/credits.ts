import { t } from "../../i18n/translate";
import type { Base } from "../../map/base";

/** The sources that a base map names. */
export function creditsOf({ settings, world }: Base): string {
  return [settings.attribution, world && t("map.credits")].filter(Boolean).join(" · ");
}
