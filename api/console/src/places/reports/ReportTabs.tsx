import { t } from "../../i18n/translate";
import { Select } from "../../parts/Field";
import { Tabs } from "../../parts/Tabs";
import { go } from "../../router";
import { KIND_NAMES, type KindName } from "./kinds";
import { type Asked, addressOf, withKind } from "./query";

const SCHEDULED = "scheduled";

/** Which report: links side by side, or a choice where there is no room for them; and the scheduled ones. */
export function ReportTabs({ asked }: { asked: Asked | null }) {
  const to = (name: KindName) => (asked ? addressOf(withKind(asked, name)) : `/reports/${name}`);
  const tabs = [
    ...KIND_NAMES.map((name) => ({ key: name as string, label: t(`report.kind.${name}`), href: to(name) })),
    { key: SCHEDULED, label: t("report.scheduled"), href: `/reports/${SCHEDULED}` },
  ];
  const chosen = asked?.kind ?? SCHEDULED;
  return (
    <>
      <Tabs label={t("report.which")} tabs={tabs} chosen={chosen} onChoose={go} />
      <div class="report-choice">
        <Select
          label={t("report.which")}
          value={chosen}
          choices={tabs.map(({ key, label }) => ({ value: key, label }))}
          onChange={(name) => go(tabs.find(({ key }) => key === name)?.href ?? "/reports")}
        />
      </div>
    </>
  );
}
