import { useState } from "preact/hooks";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Icon } from "../../parts/Icon";
import { Menu } from "../../parts/Menu";
import { go, location } from "../../router";
import { type RailEntry, railEntries } from "../../routes";
import { linked, openLinked, setLinked } from "../../state/linkedWindows";
import { session } from "../../state/session";
import { logOut } from "./logOut";

/** Of more there is room for `99+`. */
const MOST_COUNTED = 99;

/** The places: a rail at the left, on phones a bar at the bottom that has some of them under *More*. */
export function Rail({ onHelp }: { onHelp: () => void }) {
  const { path } = location.value;
  const user = session.value;
  const entries = railEntries();
  const more = entries.filter((entry) => entry.more);
  return (
    <nav class="rail" aria-label={t("frame.places")}>
      <Link to="/fleet" class="rail-brand" aria-label="Motorpool">
        <img src="/console/icon.svg" alt="" width={28} height={28} />
      </Link>
      {entries.map((entry) => (
        <Link
          key={entry.to}
          to={entry.to}
          class={`rail-entry${entry.more ? " rail-wide" : ""}`}
          aria-current={isHere(entry, path) ? "page" : undefined}
        >
          <Icon name={entry.icon} />
          <span>{t(entry.label)}</span>
          <Count of={entry} />
        </Link>
      ))}
      <span class="rail-space" />
      <button type="button" class="rail-entry rail-wide" onClick={onHelp}>
        <Icon name="help" />
        <span>{t("frame.help")}</span>
      </button>
      <Linked />
      <Link
        to="/account"
        class="rail-entry rail-wide"
        aria-current={path === "/account" ? "page" : undefined}
      >
        <Icon name="user" />
        <span title={user?.name || user?.email}>{t("frame.account")}</span>
      </Link>
      <button type="button" class="rail-entry rail-wide" onClick={logOut}>
        <Icon name="logout" />
        <span>{t("frame.logout")}</span>
      </button>
      <More entries={more} isHere={path === "/account" || more.some((entry) => isHere(entry, path))} />
    </nav>
  );
}

/** Opens a second window; both show then the vehicle that is chosen in either. */
function Linked() {
  const label = t(linked.value ? "frame.linked" : "frame.secondWindow");
  return (
    <button
      type="button"
      class="rail-entry rail-wide"
      aria-pressed={linked.value}
      title={t(linked.value ? "frame.linkedText" : "frame.secondWindowText")}
      onClick={() => (linked.value ? setLinked(false) : openLinked(window.location.href))}
    >
      <Icon name={linked.value ? "link" : "open"} />
      <span>{label}</span>
    </button>
  );
}

/** What the bar of a phone has no room for. */
function More({ entries, isHere }: { entries: readonly RailEntry[]; isHere: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="rail-entry rail-more"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-current={isHere ? "page" : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="more" />
        <span>{t("common.more")}</span>
        {entries.map((entry) => (
          <Count key={entry.to} of={entry} />
        ))}
      </button>
      {open && (
        <Menu
          label={t("common.more")}
          items={[
            ...entries.map(({ icon, label, to }) => ({ icon, label: t(label), run: () => go(to) })),
            { icon: "user", label: t("frame.account"), run: () => go("/account") },
            { icon: "logout", label: t("frame.logout"), run: logOut },
          ]}
          at={{ x: window.innerWidth, y: window.innerHeight }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

function Count({ of: { count } }: { of: RailEntry }) {
  if (!count || count.of.value === 0) return null;
  return (
    <span class="rail-count" role="status" aria-label={t(count.label, { count: count.of.value })}>
      {count.of.value > MOST_COUNTED ? `${MOST_COUNTED}+` : count.of.value}
    </span>
  );
}

function isHere({ to, under }: RailEntry, path: string): boolean {
  const isUnder = under.some((each) => path === each || path.startsWith(`${each}/`));
  return isUnder || (path === "/" && to === "/fleet");
}
