import { t } from "../../i18n/translate";
import { Channels } from "../../notifications/Channels";
import { NotificationTable } from "../../notifications/NotificationTable";
import { session } from "../../state/session";
import { Section } from "./Section";

/** What the reader is notified of, and by what. */
export function OwnNotifications() {
  const own = session.value;
  if (!own || own.temporary) return null;
  return (
    <Section name="notifications" title={t("notification.title")} text={t("notification.ownText")}>
      <NotificationTable of={{ userId: own.id }} userId={own.id} withPeople={false} />
      <h3>{t("notification.channels")}</h3>
      <p class="card-text">{t("notification.channelsText")}</p>
      <Channels />
    </Section>
  );
}
