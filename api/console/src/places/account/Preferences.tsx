import type { User } from "../../api/types";
import { LANGUAGES, t } from "../../i18n/translate";
import { Check, type Choice, Select } from "../../parts/Field";
import { Picker } from "../../parts/Picker";
import { read, useLoaded } from "../../state/responseCache";
import { may, saveAttributes, saveUser, server, session, style } from "../../state/session";
import { COLUMNS, COLUMNS_ATTRIBUTE, type Column, columnLabel, columnsOf } from "../fleet/columns";
import { applyTheme, isTheme } from "../frame/theme";
import { Section } from "./Section";
import { useSaving } from "./useSaving";

const UNITS = [
  ["speedUnit", choices({ kmh: "km/h", mph: "mph", kn: "kn" })],
  ["distanceUnit", choices({ km: "km", mi: "mi", nmi: "nmi" })],
  ["altitudeUnit", choices({ m: "m", ft: "ft" })],
  ["volumeUnit", choices({ ltr: "l", usGal: "US gal", impGal: "imp gal" })],
] as const;

function choices(names: Record<string, string>): Choice[] {
  return Object.entries(names).map(([value, label]) => ({ value, label }));
}

/** Language, time zone, units and appearance; each is saved when it is chosen. */
export function Preferences() {
  const { busy, said, save } = useSaving();
  const zones = useLoaded("zones", () => read<string[]>("/server/timezones"));
  const user = session.value;
  if (!user) return null;
  const forced = server.value?.forceSettings ?? false;
  const fixed = busy || !may("edit") || forced;
  const shown = style.value;
  const set = (key: string) => (value: string | number | null) =>
    void save(() => saveAttributes({ [key]: value || null }));
  return (
    <Section
      name="preferences"
      title={t("account.preferences")}
      said={said}
      {...(forced && { text: t("account.forced") })}
    >
      <div class="form-grid">
        <Select
          label={t("account.language")}
          value={String(user.attributes.language ?? "")}
          choices={[
            { value: "", label: t("account.asBrowser") },
            ...Object.entries(LANGUAGES).map(([value, label]) => ({ value, label })),
          ]}
          onChange={set("language")}
          disabled={fixed}
        />
        <Picker
          label={t("account.zone")}
          items={(zones.value ?? []).map((zone) => ({ id: zone, name: zone.replace(/_/g, " ") }))}
          value={typeof user.attributes.timezone === "string" ? user.attributes.timezone : null}
          noneLabel={`${t("account.asBrowser")} (${shown.zone.replace(/_/g, " ")})`}
          onChange={set("timezone")}
          disabled={fixed}
        />
        {UNITS.map(([unit, choices]) => (
          <Select
            key={unit}
            label={t(`account.${unit}`)}
            value={shown[unit]}
            choices={choices}
            onChange={set(unit)}
            disabled={fixed}
          />
        ))}
        <Select
          label={t("account.coordinateFormat")}
          value={shown.coordinateFormat}
          choices={(["dd", "ddm", "dms"] as const).map((value) => ({ value, label: t(`account.${value}`) }))}
          onChange={(value) => void save(() => saveUser({ coordinateFormat: value }))}
          disabled={fixed}
        />
        <Appearance user={user} fixed={busy || !may("edit")} set={set} />
      </div>
    </Section>
  );
}

interface AppearanceProps {
  user: User;
  fixed: boolean;
  set: (key: string) => (value: string) => void;
}

function Appearance({ user, fixed, set }: AppearanceProps) {
  const { save } = useSaving();
  const theme = user.attributes["console.theme"];
  return (
    <>
      <Select
        label={t("account.theme")}
        value={isTheme(theme) ? theme : "system"}
        choices={[
          { value: "system", label: t("account.themeSystem") },
          { value: "light", label: t("account.themeLight") },
          { value: "dark", label: t("account.themeDark") },
        ]}
        onChange={(value) => {
          applyTheme(value);
          set("console.theme")(value);
        }}
        disabled={fixed}
      />
      <Check
        label={t("account.singleKeys")}
        hint={t("account.singleKeysText")}
        checked={user.attributes["console.singleKeys"] !== false}
        onChange={(checked) =>
          void save(() => saveAttributes({ "console.singleKeys": checked ? null : false }))
        }
        disabled={fixed}
      />
      <Columns user={user} fixed={fixed} />
    </>
  );
}

/** What rows of the list of vehicles show. */
function Columns({ user, fixed }: Pick<AppearanceProps, "user" | "fixed">) {
  const { busy, save } = useSaving();
  const shown = columnsOf(user.attributes[COLUMNS_ATTRIBUTE]);
  const set = (column: Column, isShown: boolean) => {
    const others = shown.filter((each) => each !== column);
    void save(() => saveAttributes({ [COLUMNS_ATTRIBUTE]: isShown ? [...others, column] : others }));
  };
  return (
    <fieldset class="preferences-columns">
      <legend>{t("account.columns")}</legend>
      {COLUMNS.map((column) => (
        <Check
          key={column}
          label={columnLabel(column)}
          checked={shown.includes(column)}
          onChange={(isShown) => set(column, isShown)}
          disabled={fixed || busy}
        />
      ))}
    </fieldset>
  );
}
