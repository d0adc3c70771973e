/** Everything that can be gone to or done, by name: places, vehicles with what can be done with them, and zones. */

import type { Geofence } from "../../api/types";
import { hasText, type Key, LANGUAGES, t } from "../../i18n/translate";
import type { Choice } from "../../keys/Palette";
import { picked } from "../../parts/Picker";
import { sentenceOf } from "../../parts/Problem";
import { plain } from "../../parts/plain";
import { toast } from "../../parts/Toast";
import { go, location, withQuery } from "../../router";
import { railEntries } from "../../routes";
import { deviceNow, snapshot } from "../../state/fleet";
import { linked, openLinked, setLinked } from "../../state/linkedWindows";
import { may, saveAttributes, server, session } from "../../state/session";
import { adminSections } from "../admin/sections";
import { openSharing } from "../share/sharing";
import { vehicleActs } from "../vehicle/acts";
import { openNewestAlarm } from "./alarms";
import { logOut } from "./logOut";
import { actsIn } from "./namedActs";
import { applyTheme } from "./theme";

interface VehicleAct {
  label: string;
  words: string;
  run: (id: number) => void;
}

/** What fits a text, by name before other words. Without one it begins with what can be done with the open vehicle. */
export function destinations(
  text: string,
  zones: readonly Geofence[],
  onHelp: () => void,
): readonly Choice[] {
  const vehicles = snapshot().map(({ device }) => device);
  const goals = [
    ...places(onHelp),
    ...vehicles.map((each) => choice(`/vehicles/${each.id}`, each.name, each.uniqueId)),
    ...zones.map(({ id, name }) => choice(`/zones/${id}`, name, t("keys.aZone"))),
  ];
  const open = deviceNow(Number(location.peek().params.id));
  const shown = location.peek().path.startsWith("/vehicles/") ? open : undefined;
  const acts = actsIn(text, actsOfVehicles(), vehicles, shown).map(({ act, vehicle }) => ({
    id: `${act.label} ${vehicle.id}`,
    name: `${vehicle.name} · ${act.label}`,
    run: () => act.run(vehicle.id),
  }));
  if (!text.trim()) return [...acts, ...goals];
  const settings = picked(preferences(), text);
  const found = [...picked(goals, text), ...(shown ? [...acts, ...settings] : [...settings, ...acts])];
  const first = plain(text.trim());
  const isNamed = ({ name }: Choice) => plain(name).includes(first);
  return [...found.filter(isNamed), ...found.filter((each) => !isNamed(each))];
}

function places(onHelp: () => void): readonly Choice[] {
  const windows = () => (linked.peek() ? setLinked(false) : openLinked(window.location.href));
  return [
    ...[...railEntries(), ...adminSections()].map((each) => choice(each.to, t(each.label))),
    ...(may("addDevices") ? [choice("/connect", t("fleet.connect"))] : []),
    ...(may("edit") ? [choice("/zones/new", t("zone.new"))] : []),
    ...(may("edit") && !session.value?.temporary ? [choice("/helpdesk/new", t("frame.newCompany"))] : []),
    ...(session.value?.temporary
      ? []
      : [
          // Where it is not in the rail already.
          ...(may("reports")
            ? [
                choice("/schedules", t("sent.schedules")),
                choice("/reports/scheduled", t("frame.scheduledReports")),
              ]
            : []),
          choice("/calendars", t("sent.calendars")),
        ]),
    choice("/account", t("frame.account")),
    act("keys.alarm", "alarm", openNewestAlarm),
    act(linked.peek() ? "frame.linked" : "frame.secondWindow", "secondWindow", windows),
    act("frame.help", "help", onHelp),
    act("frame.logout", "logout", logOut),
  ];
}

const SECTIONS = [
  ["preferences", "account.preferences"],
  ["password", "account.password"],
  ["codes", "account.totp"],
  ["sessions", "account.sessions"],
  ["tokens", "account.tokens"],
  ["shares", "share.links"],
] as const;

/** Those that the account shows to nobody who may change nothing. */
const NEED_EDIT: ReadonlySet<string> = new Set(["password", "codes"]);

const THEMES = [
  ["light", "account.themeLight"],
  ["dark", "account.themeDark"],
  ["system", "account.themeSystem"],
] as const;

/** Parts of the account, and what of it can be set at once: only those who type look for them. */
function preferences(): readonly Choice[] {
  const sections = SECTIONS.filter(([section]) => may("edit") || !NEED_EDIT.has(section));
  const found = sections.map(([section, label]) => ({
    ...choice(`/account?section=${section}`, t(label), t("frame.account")),
    words: wordsOf(section),
  }));
  if (!may("edit")) return found;
  const set = (key: string, value: string | null) => void save(key, value);
  const themes = THEMES.map(([theme, label]) => ({
    id: `theme ${theme}`,
    name: `${t("account.theme")}: ${t(label)}`,
    words: wordsOf("theme"),
    run: () => {
      applyTheme(theme);
      set("console.theme", theme);
    },
  }));
  const languages = Object.entries(LANGUAGES).map(([code, name]) => ({
    id: `language ${code}`,
    name: `${t("account.language")}: ${name}`,
    words: wordsOf("language"),
    run: () => set("language", code),
  }));
  return [...found, ...themes, ...(server.value?.forceSettings ? [] : languages)];
}

async function save(key: string, value: string | null): Promise<void> {
  try {
    await saveAttributes({ [key]: value });
  } catch (problem) {
    applyTheme(session.peek()?.attributes["console.theme"]);
    toast(sentenceOf(problem), "bad");
  }
}

function actsOfVehicles(): readonly VehicleAct[] {
  const follow = (id: number) => go(withQuery(`/vehicles/${id}`, { follow: "1" }));
  return [
    ...vehicleActs().map((each) => ({
      label: t(each.label),
      words: wordsOf(`${each.key}.vehicle`),
      run: (id: number) => go(each.to(id)),
    })),
    { label: t("keys.follow"), words: wordsOf("follow"), run: follow },
    ...(may("share") ? [{ label: t("share.share"), words: wordsOf("share"), run: openSharing }] : []),
  ];
}

function choice(to: string, name: string, note?: string): Choice {
  return { id: to, name, words: wordsOf(to), ...(note && { note }), run: () => go(to) };
}

function act(label: Key, words: string, run: () => void): Choice {
  return { id: label, name: t(label), words: wordsOf(words), run };
}

/** Other words for something; none until they are loaded, and where there are none. */
function wordsOf(name: string): string {
  const key = `words.${name}`;
  return hasText(key) ? t(key) : "";
}
