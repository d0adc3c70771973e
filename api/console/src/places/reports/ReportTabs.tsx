import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Select } from "../../parts/Field";
import { go } from "../../router";
import { KIND_NAMES, type KindName } from "./kinds";
import { type Asked, addressOf, withKind } from "./query";

/** Which report: links side by side, or a choice where there is no room for them; and the scheduled ones. */
export function ReportTabs({ asked }: { asked: Asked | null }) {
  const to = (name: KindName) => (asked ? addressOf(withKind(asked, name)) : `/reports/${name}`);
  return (
    <>
      <nav class="report-tabs" aria-label={t("report.which")}>
        {KIND_NAMES.map((name) => (
          <Link key={name} to={to(name)} {...(asked?.kind === name && { "aria-current": "page" })}>
            {t(`report.kind.${name}`)}
          </Link>
        ))}
        <Link to="/reports/scheduled" {...(!asked && { "aria-current": "page" })}>
          {t("report.scheduled")}
        </Link>
      </nav>
      <div class="report-choice">
        <Select
          label={t("report.which")}
          value={asked?.kind ?? "scheduled"}
          choices={[
            ...KIND_NAMES.map((name) => ({ value: name, label: t(`report.kind.${name}`) })),
            { value: "scheduled", label: t("report.scheduled") },
          ]}
          onChange={(name) => go(name === "scheduled" ? "/reports/scheduled" : to(name as KindName))}
        />
      </div>
    </>
  );
}
