import type { Condition } from "../../api/socket";
import { dayTime } from "../../format/times";
import { type Key, t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { conditions } from "../../state/conditions";
import { may, style } from "../../state/session";

const TEXTS: Record<string, Key> = {
  database: "frame.databaseAway",
  positions: "frame.positionsWait",
  disk: "frame.diskFull",
  memory: "frame.memoryShort",
  open_files: "frame.filesShort",
  clock: "frame.clockSet",
  duties: "frame.noDuties",
};

/** Says to administrators what is wrong with the server. */
export function ConditionBar() {
  if (!conditions.value.length || !may("administer")) return null;
  return (
    <div class="condition-bar" role="status">
      {conditions.value.map((each) => (
        <div key={each.name}>
          <Icon name="warning" size={16} />
          <span>
            {conditionText(each)} {t("frame.since", { time: dayTime(Date.parse(each.since), style.value) })}
            <span class="condition-cause"> {each.cause}</span>
          </span>
        </div>
      ))}
    </div>
  );
}

/** A newer server may have conditions that this page has no words for. */
export function conditionText({ name, text }: Pick<Condition, "name" | "text">): string {
  const key = TEXTS[name];
  return key ? t(key) : `${text}.`;
}
