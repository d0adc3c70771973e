import { t } from "../../i18n/translate";
import { session } from "../../state/session";
import { ShareList, useShares } from "../share/ShareList";
import { Section } from "./Section";

/** The share links of the user, to be ended. */
export function Shares() {
  const shares = useShares();
  if (session.value?.temporary) return null;
  return (
    <Section name="shares" title={t("share.links")} text={t("share.linksText")}>
      <ShareList shares={shares} />
    </Section>
  );
}
