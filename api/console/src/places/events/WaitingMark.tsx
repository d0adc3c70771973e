import { useComputed } from "@preact/signals";
import { alarmText } from "../../format/alarms";
import { t } from "../../i18n/translate";
import { Icon } from "../../parts/Icon";
import { waitingByDevice } from "../../state/reviews";
import { typeName } from "./kinds";
import "./severity.css";

/** The most severe event of a vehicle that waits for review, and how many others do. */
export function WaitingMark({ id }: { id: number }) {
  const first = useComputed(() => waitingByDevice.value.get(id)?.[0]).value;
  const count = useComputed(() => waitingByDevice.value.get(id)?.length ?? 0).value;
  if (!first) return null;
  const { alarm, alarmDetail } = first.attributes;
  const what = typeof alarm === "string" ? alarmText(alarm, alarmDetail) : typeName(first.type);
  const critical = first.severity === "CRITICAL";
  return (
    <span class={`severity waiting-mark ${critical ? "critical" : "warning"}`}>
      <Icon
        name={critical ? "critical" : "warning"}
        size={16}
        label={t(`review.severity.${critical ? "CRITICAL" : "WARNING"}`)}
      />
      <span aria-hidden={count > 1}>{what}</span>
      {count > 1 && (
        <>
          <span class="waiting-more" aria-hidden="true">
            +{count - 1}
          </span>
          <span class="hidden">{t("review.andMore", { what, count: count - 1 })}</span>
        </>
      )}
    </span>
  );
}
