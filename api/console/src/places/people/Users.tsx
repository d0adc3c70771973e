import { useMemo } from "preact/hooks";
import type { User } from "../../api/types";
import { shortTime } from "../../format/times";
import { compareNames, type Key, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Select } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { picked } from "../../parts/Picker";
import { Problem } from "../../parts/Problem";
import { Rows } from "../../parts/Rows";
import { hasTouch } from "../../parts/touch";
import { go, location, withQuery } from "../../router";
import { may, session, style } from "../../state/session";
import { now } from "../../time/clock";
import { AdminPlace } from "../admin/AdminPlace";
import "./people.css";
import { SearchField } from "../../parts/SearchField";
import { nameOf, restrictionLabel, restrictionsOf, roleOf, stateOf, useActivity, useUsers } from "./users";

const SORTS = ["name", "email", "role", "state"] as const;
type Sort = (typeof SORTS)[number];
const KINDS = ["", "administrator", "manager", "user", "guest", "disabled", "expired"] as const;
const ROW_HEIGHT = hasTouch ? 60 : 52;

/** All users that the reader may see, one a row. */
export default function Users() {
  const { value, problem, reload } = useUsers();
  const { query } = location.value;
  const keyword = query.get("keyword") ?? "";
  const kind = KINDS.find((each) => each === query.get("kind")) ?? "";
  const sort = SORTS.find((each) => each === query.get("sort")) ?? "name";
  const descending = query.get("descending") === "1";
  // Once a minute is enough for accounts that expire.
  const minute = Math.floor(now.value / 60_000) * 60_000;
  const rows = useMemo(
    () => shownOf(value ?? [], { keyword, kind, sort, descending, now: minute }),
    [value, keyword, kind, sort, descending, minute],
  );
  const set = (change: Record<string, string | null>) =>
    go(withQuery("/admin/users", { ...Object.fromEntries(query), ...change }), { replace: true });
  const add = may("edit") && (
    <Link class={value && value.length > 1 ? "button" : "button primary"} to="/admin/users/new">
      <Icon name="plus" size={16} />
      {t("people.newUser")}
    </Link>
  );
  const isAlone = value?.every(({ id }) => id === session.value?.id);
  return (
    <AdminPlace to="/admin/users" acts={!isAlone && add}>
      <div class="people">
        <div class="people-bar">
          <SearchField
            label={t("people.searchUsers")}
            placeholder={t("people.searchUsers")}
            value={keyword}
            onText={(text) => set({ keyword: text })}
          />
          <Select
            label={t("people.show")}
            value={kind}
            choices={KINDS.map((each) => ({ value: each, label: t(labelOf(each)) }))}
            onChange={(chosen) => set({ kind: chosen })}
          />
        </div>
        {problem !== null && <Problem problem={problem} onRetry={reload} />}
        {!value && problem === null && <Skeleton label={t("common.loading")} lines={8} />}
        {isAlone && (
          <Empty icon="user" title={t("people.alone")} text={t("people.aloneText")}>
            {add}
          </Empty>
        )}
        {value && rows.length === 0 && !isAlone && <Empty icon="search" title={t("common.noMatch")} />}
        {rows.length > 0 && (
          <>
            <p class="people-count" role="status">
              {t("people.count", { count: rows.length })}
            </p>
            <div class="people-head people-grid">
              {SORTS.map((each) => (
                <button
                  key={each}
                  type="button"
                  class={`people-${each}`}
                  aria-pressed={sort === each}
                  onClick={() => set({ sort: each, descending: sort === each && !descending ? "1" : null })}
                >
                  {t(`people.${each}`)}
                  {sort === each && (descending ? " ↓" : " ↑")}
                </button>
              ))}
              <span class="people-devices">{t("people.devices")}</span>
              <span class="people-login">{t("people.lastLogin")}</span>
            </div>
            <Rows
              class="people-rows"
              label={t("people.users")}
              count={rows.length}
              rowHeight={ROW_HEIGHT}
              keyOf={(index) => rows[index]?.id ?? index}
              render={(index) => <UserRow user={rows[index] as User} at={minute} />}
            />
          </>
        )}
      </div>
    </AdminPlace>
  );
}

function labelOf(kind: (typeof KINDS)[number]): Key {
  if (kind === "") return "people.all";
  return kind === "disabled" || kind === "expired" ? `people.${kind}` : `people.role.${kind}`;
}

interface Shown {
  keyword: string;
  kind: (typeof KINDS)[number];
  sort: Sort;
  descending: boolean;
  now: number;
}

/** The users that filters leave, in order. Guests of share links are shown only where they are asked for. */
export function shownOf(users: readonly User[], shown: Shown): readonly User[] {
  const { kind, sort, descending } = shown;
  const fits = users.filter((user) => {
    const role = roleOf(user);
    if (kind === "") return role !== "guest";
    return kind === role || kind === stateOf(user, shown.now);
  });
  const items = fits.map((user) => ({
    id: user.id,
    name: nameOf(user),
    note: user.email,
    words: user.login ?? "",
    user,
    key: { name: nameOf(user), email: user.email, role: roleOf(user), state: stateOf(user, shown.now) }[sort],
  }));
  const found = [...picked(items, shown.keyword)].sort(
    (one, other) => compareNames(one.key, other.key) || compareNames(one.name, other.name),
  );
  return (descending ? found.reverse() : found).map(({ user }) => user);
}

function UserRow({ user, at }: { user: User; at: number }) {
  const activity = useActivity(user.id).value;
  const state = stateOf(user, at);
  const restrictions = restrictionsOf(user).map((flag) => t(restrictionLabel(flag)));
  const role = t(`people.role.${roleOf(user)}`);
  return (
    <Link class="people-row people-grid" to={`/admin/users/${user.id}`}>
      <strong class="people-name">
        {user.id === session.value?.id ? t("people.you", { name: nameOf(user) }) : nameOf(user)}
      </strong>
      <span class="people-email">{user.email}</span>
      <span class="people-role" title={restrictions.join(", ")}>
        {role}
        {restrictions.length > 0 && <small>{restrictions.join(", ")}</small>}
      </span>
      <span class="people-state">
        <span class={`people-mark ${state}`} aria-hidden="true" />
        {t(`people.${state}`)}
      </span>
      <span class="people-devices">{activity ? activity.devices : ""}</span>
      <span class="people-login">
        {activity &&
          (activity.lastLogin
            ? shortTime(Date.parse(activity.lastLogin), at, style.value)
            : t("people.neverSeen"))}
      </span>
    </Link>
  );
}
