import { t } from "../../i18n/translate";
import { Channels } from "../../notifications/Channels";
import { personName, usePeople } from "../../notifications/NotificationDialog";
import { NotificationTable } from "../../notifications/NotificationTable";
import { Picker } from "../../parts/Picker";
import { go, location, withQuery } from "../../router";
import { may, session } from "../../state/session";
import { AdminPlace } from "./AdminPlace";

const PLACE = "/admin/notifications";

/** Which events reach whom by what. */
export default function Notifications() {
  const { query } = location.value;
  const own = session.value?.id ?? 0;
  const manages = may("manageUsers");
  const asked = Number(query.get("userId")) || null;
  const people = usePeople();
  const of = asked ? { userId: asked } : manages ? { all: true } : {};
  return (
    <AdminPlace to={PLACE}>
      <section class="card" aria-label={t("notification.title")}>
        {manages && (
          <Picker
            label={t("notification.whose")}
            items={people.map((user) => ({ id: user.id, name: personName(user), note: user.email }))}
            value={asked}
            noneLabel={t("notification.everybody")}
            onChange={(id) => go(withQuery(PLACE, { userId: id === null ? null : String(id) }))}
          />
        )}
        <NotificationTable
          of={of}
          userId={asked ?? own}
          withPeople={manages}
          open={Number(query.get("open")) || 0}
        />
      </section>
      <section class="card" aria-label={t("notification.channels")}>
        <h2>{t("notification.channels")}</h2>
        <p class="card-text">{t("notification.channelsText")}</p>
        <Channels />
      </section>
    </AdminPlace>
  );
}
