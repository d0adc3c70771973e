import { useState } from "preact/hooks";
import type { Calendar } from "../../api/types";
import { weekdays } from "../../calendars/BlockFields";
import { type Block, blocksOf, decoded } from "../../calendars/blocks";
import { CalendarDialog } from "../../calendars/CalendarDialog";
import { zoneOf } from "../../calendars/zoneOf";
import { compareNames, t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Empty } from "../../parts/Empty";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { picked } from "../../parts/Picker";
import { Problem } from "../../parts/Problem";
import { SearchField } from "../../parts/SearchField";
import { go } from "../../router";
import { may } from "../../state/session";
import { CommandTabs } from "../sent/CommandTabs";
import { useCalendars } from "./records";
import "./schedules.css";

/** All calendars of the reader, and what they say. */
export default function Calendars() {
  const { value, problem, reload } = useCalendars();
  const [keyword, setKeyword] = useState("");
  const [making, setMaking] = useState(false);
  const sorted = [...(value ?? [])].sort((one, other) => compareNames(one.name, other.name));
  const add = may("edit") && (
    <button type="button" class="primary" onClick={() => setMaking(true)}>
      <Icon name="plus" size={16} />
      {t("calendar.new")}
    </button>
  );
  const found = picked(sorted, keyword);
  return (
    <div class="page schedules">
      <CommandTabs chosen="calendars" title={t("calendar.title")}>
        {sorted.length > 0 && add}
      </CommandTabs>
      {problem !== null && <Problem problem={problem} onRetry={reload} />}
      {!value && problem === null && <Skeleton label={t("common.loading")} lines={5} />}
      {value?.length === 0 && (
        <Empty icon="history" title={t("calendar.none")} text={t("calendar.noneText")}>
          {add}
        </Empty>
      )}
      {sorted.length > 0 && (
        <section class="card">
          <SearchField
            class="record-search"
            label={t("calendar.search")}
            value={keyword}
            onText={setKeyword}
          />
          {found.length === 0 && <Empty icon="search" title={t("common.noMatch")} />}
          <ul class="record-rows" aria-label={t("calendar.title")}>
            {found.map((calendar) => (
              <li key={calendar.id}>
                <div>
                  <strong>
                    <Link to={`/calendars/${calendar.id}`}>{calendar.name}</Link>
                  </strong>
                  <p>{summaryOf(calendar)}</p>
                  <p>{t("common.zone", { zone: zoneOf(calendar).replace(/_/g, " ") })}</p>
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
      {making && (
        <CalendarDialog
          calendar={null}
          onClose={() => setMaking(false)}
          onSaved={(saved) => go(`/calendars/${saved.id}`)}
        />
      )}
    </div>
  );
}

/** `Mon, Tue 09:00–17:00 · 2 days of their own`; a calendar that says more is said to. */
function summaryOf({ data }: Calendar): string {
  const found = blocksOf(decoded(data));
  if (!found) return t("calendar.asTextOnly");
  const parts = found.blocks.map(blockText);
  if (found.exceptions.length > 0) parts.push(t("calendar.ownDays", { count: found.exceptions.length }));
  return parts.join(" · ");
}

function blockText({ days, from, to }: Block): string {
  const names = weekdays();
  const isRun = days.length > 2 && days.every((day, index) => day === (days[0] ?? 0) + index);
  const named = isRun
    ? `${names[days[0] ?? 0]}–${names[days.at(-1) ?? 0]}`
    : days.map((day) => names[day]).join(", ");
  return `${named} ${from}–${to === "00:00" ? "24:00" : to}`;
}
