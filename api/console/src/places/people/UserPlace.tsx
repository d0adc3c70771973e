import type { ComponentChildren } from "preact";
import { get } from "../../api/call";
import type { User, UserActivity } from "../../api/types";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import type { PlaceProps } from "../../routes";
import { read, useLoaded } from "../../state/responseCache";
import { may, session } from "../../state/session";
import { now } from "../../time/clock";
import { AdminPlace } from "../admin/AdminPlace";
import { Logins } from "./Logins";
import "./people.css";
import { UserActs } from "./UserActs";
import { UserForm } from "./UserForm";
import { blankUser, nameOf, roleOf, stateOf } from "./users";

/** One user: what they are and may do, where they are logged in, and what can be done about it. */
export default function UserPlace({ params }: PlaceProps) {
  return params.id === "new" ? <NewUser /> : <KnownUser key={params.id} id={Number(params.id)} />;
}

/** The page of a user, with the way back to all of them. */
function Page({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <AdminPlace to="/admin/users" title={title}>
      <div class="people">
        <Link class="people-back" to="/admin/users">
          <Icon name="back" size={16} />
          {t("people.users")}
        </Link>
        {children}
      </div>
    </AdminPlace>
  );
}

function NewUser() {
  return (
    <Page title={t("people.newUser")}>
      {may("edit") ? (
        <UserForm stored={null} blank={blankUser()} onSaved={() => {}} />
      ) : (
        <p class="card-text">{t("people.mayNot")}</p>
      )}
    </Page>
  );
}

function KnownUser({ id }: { id: number }) {
  const { value: user, problem, reload } = useLoaded(`user ${id}`, () => read<User>(`/users/${id}`));
  const state = user ? stateOf(user, now.value) : "active";
  return (
    <Page title={user ? nameOf(user) : t("people.users")}>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!user && problem === null && <Skeleton label={t("common.loading")} lines={8} />}
      {user && (
        <>
          <p class="people-title">
            <span class="badge">{t(`people.role.${roleOf(user)}`)}</span>
            {state !== "active" && <span class={`badge people-${state}`}>{t(`people.${state}`)}</span>}
            <span>{user.email}</span>
          </p>
          {id === session.value?.id && (
            <p class="card-text">
              {t("people.yourself")} <Link to="/account">{t("frame.account")}</Link>
            </p>
          )}
          <UserActs user={user} onChanged={reload} />
          <Seen id={id} />
          <UserForm stored={user} blank={user} onSaved={reload} />
          {!user.temporary && <Logins user={user} />}
        </>
      )}
    </Page>
  );
}

/** How much the user sees, with the way to where that is changed. */
function Seen({ id }: { id: number }) {
  const { value } = useLoaded(`activity ${id}`, (signal) =>
    get<UserActivity[]>("/users/activity", { id }, signal),
  );
  const activity = value?.[0];
  return (
    <section class="card" aria-labelledby="people-seen">
      <h2 id="people-seen">{t("people.sees")}</h2>
      <p class="card-text">
        {activity && t("people.seesDevices", { count: activity.devices })}{" "}
        <Link to={`/admin/links?owner=user&id=${id}&kind=deviceId`}>{t("people.changeLinks")}</Link>
      </p>
    </section>
  );
}
