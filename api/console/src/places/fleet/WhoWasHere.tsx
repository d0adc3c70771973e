import { useState } from "preact/hooks";
import { get } from "../../api/call";
import type { Presence } from "../../api/types";
import { shortTime } from "../../format/times";
import { t } from "../../i18n/translate";
import { Link } from "../../Link";
import { Select } from "../../parts/Field";
import { Icon } from "../../parts/Icon";
import { Skeleton } from "../../parts/Late";
import { Problem } from "../../parts/Problem";
import { TimeField } from "../../parts/TimeField";
import { useLoaded } from "../../state/responseCache";
import { style } from "../../state/session";
import { now } from "../../time/clock";
import { instantText, resolveSpan, type SpanText } from "../../time/spans";
import { historyAt } from "../vehicle/acts";
import { lengthText } from "./MeasureBar";

const RADII = [50, 100, 250, 1000];
/** Stays that are listed. */
const LISTED = 200;

/** Which vehicles were at a place in a span, and when: each leads to its history of that time. */
export default function WhoWasHere({ latitude, longitude }: { latitude: number; longitude: number }) {
  const [text, setText] = useState<SpanText>({ from: "now-8h", to: "now" });
  const [radius, setRadius] = useState(100);
  // Words such as `now` mean the moment at which they were chosen.
  const [at, setAt] = useState(now.peek());
  const span = resolveSpan(text, at, style.value.zone);
  const query = span && {
    latitude,
    longitude,
    radius,
    from: instantText(span.from),
    to: instantText(span.to - 1),
  };
  const found = useLoaded(`presence ${JSON.stringify(query)}`, async (signal) =>
    query ? get<Presence[]>("/reports/presence", query, signal) : [],
  );
  const stays = [...(found.value ?? [])].sort(
    (one, other) => Date.parse(other.startTime) - Date.parse(one.startTime),
  );
  return (
    <section class="who" aria-label={t("map.who")}>
      <TimeField
        label={t("history.span")}
        value={text}
        now={now.value}
        style={style.value}
        onSpan={(next) => {
          setText(next);
          setAt(now.peek());
        }}
      />
      <Select
        label={t("map.within")}
        value={String(radius)}
        choices={RADII.map((each) => ({ value: String(each), label: lengthText(each) }))}
        onChange={(value) => setRadius(Number(value))}
      />
      {found.problem !== null && <Problem problem={found.problem} onRetry={found.reload} />}
      {found.value === undefined && found.problem === null && <Skeleton label={t("common.loading")} />}
      {found.value && stays.length === 0 && <p class="faint">{t("map.nobody")}</p>}
      {stays.length > LISTED && (
        <p class="faint">{t("map.newestOf", { count: stays.length, listed: LISTED })}</p>
      )}
      <ul>
        {stays.slice(0, LISTED).map((each) => {
          const [begin, end] = [Date.parse(each.startTime), Date.parse(each.endTime)];
          return (
            <li key={`${each.deviceId} ${each.startTime}`}>
              <Link to={historyAt(each.deviceId, begin)}>
                <Icon name="car" size={14} />
                <span>{each.deviceName}</span>
              </Link>{" "}
              {shortTime(begin, at, style.value)} – {shortTime(end, at, style.value)}
              <span class="faint"> · {lengthText(each.distance)}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
