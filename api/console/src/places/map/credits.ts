import { t } from "../../i18n/translate";
import type { Base } from "../../map/base";

/** Whom a base map names as its sources. */
export function creditsOf({ settings, world }: Base): string {
  return [settings.attribution, world && t("map.credits")].filter(Boolean).join(" · ");
}
