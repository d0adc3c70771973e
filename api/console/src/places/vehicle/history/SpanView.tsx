import { type Signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Event, StopItem, TripItem } from "../../../api/types";
import { SpeedGraph } from "../../../charts/SpeedGraph";
import { clockTime, dateTime, duration } from "../../../format/times";
import { distance } from "../../../format/units";
import { t } from "../../../i18n/translate";
import { useKeys } from "../../../keys/listen";
import { TooMuch } from "../../../map/trackWorker";
import { Empty } from "../../../parts/Empty";
import { Skeleton } from "../../../parts/Late";
import { Problem } from "../../../parts/Problem";
import { location } from "../../../router";
import { position } from "../../../state/fleet";
import { style } from "../../../state/session";
import { makeCursor } from "../../../time/cursor";
import type { Span, SpanText } from "../../../time/spans";
import type { Lane } from "../../../timeline/lanes";
import { zoomed } from "../../../timeline/scale";
import { Timeline } from "../../../timeline/Timeline";
import { eventText } from "../../events/eventText";
import { useZoneNames } from "../../events/zoneNames";
import { DayList } from "./DayList";
import { dayLanes } from "./dayLanes";
import { EventRows } from "./EventRows";
import { Film } from "./Film";
import { askedAt, askedView, dayOf } from "./historyQuery";
import { Moment } from "./Moment";
import { ReplayBar } from "./ReplayBar";
import { RouteMap } from "./RouteMap";
import { nextRate, step, togglePlaying, useReplay } from "./replay";
import { useAddress } from "./useAddress";
import { useDay, useTrack } from "./useHistory";

interface SpanViewProps {
  id: number;
  span: Span;
  /** An instant that was typed, to go to. */
  moment: Signal<number | null>;
  onSpan: (span: SpanText, at?: number) => void;
}

type Side = "day" | "events" | "moment";
const SIDES: readonly Side[] = ["day", "events", "moment"];
/** A moment that was typed is shown with what was around it. */
const AROUND_MS = 30 * 60_000;
const SECOND = 1000;

/** A span of a vehicle's history: map, film, graph and lanes, with one cursor for all. */
export function SpanView({ id, span, moment, onSpan }: SpanViewProps) {
  const asked = askedAt(location.peek().query);
  const cursor = useMemo(() => {
    const made = makeCursor(span, asked ?? span.from);
    made.span.value = askedView(location.peek().query, span);
    return made;
  }, [span]);
  const day = useDay(id, span);
  const { track, worker, problem, reload } = useTrack(id, span);
  const cameras = useSignal<readonly Lane[]>([]);
  const marked = useSignal<{ lane: string; span: Span } | null>(null);
  const [follow, setFollow] = useState(false);
  const [side, setSide] = useState<Side>("day");
  const look = style.value;
  const zones = useZoneNames();
  useReplay(cursor, span);
  useAddress(cursor, span);

  // Without an instant in the address the history begins with the first trip.
  useEffect(() => {
    const trip = day.value?.trips[0];
    const first = trip ? Date.parse(trip.startTime) : track?.at[0];
    const isBegun = asked !== null || cursor.at.peek() !== span.from;
    if (day.value && track && first !== undefined && !isBegun) cursor.at.value = first;
  }, [day.value, track, cursor]);
  useSignalEffect(() => {
    const at = moment.value;
    if (at === null) return;
    moment.value = null;
    show(at - AROUND_MS, at + AROUND_MS, at);
  });

  /** Go to an instant, with so much around it in view. */
  function show(from: number, to: number, at: number): void {
    const part = (to - from) / (span.to - span.from);
    cursor.at.value = at;
    cursor.span.value = zoomed(span, (from + to) / 2, Math.min(1, part), span);
  }
  useKeys("player", {
    pause: () => togglePlaying(cursor, span),
    back5: () => step(cursor, -5 * SECOND, span),
    on5: () => step(cursor, 5 * SECOND, span),
    back60: () => step(cursor, -60 * SECOND, span),
    on60: () => step(cursor, 60 * SECOND, span),
    slower: () => {
      cursor.rate.value = nextRate(cursor.rate.peek(), -1);
    },
    faster: () => {
      cursor.rate.value = nextRate(cursor.rate.peek(), 1);
    },
  });
  useKeys("vehicle", { follow: () => setFollow((before) => !before) });

  const own = useMemo(
    () =>
      dayLanes(day.value ?? { trips: [], stops: [], events: [] }, {
        movement: t("history.movement"),
        events: t("vehicle.events"),
        trip: (trip: TripItem) =>
          `${t("history.trip")} · ${distance(trip.distance, look)} · ${duration(trip.duration, look)}`,
        stop: (stop: StopItem, number: number) =>
          `${t("history.stop", { number })} · ${clockTime(Date.parse(stop.startTime), look)} · ${duration(stop.duration, look)}`,
        event: (event: Event) => eventText(event, zones, look),
      }),
    [day.value, look, zones],
  );
  const lanes = useMemo(() => [...own, ...cameras.value], [own, cameras.value]);
  const nothing = track?.at.length === 0 && day.value?.events.length === 0;
  return (
    <>
      <div class="history-top">
        <div class="history-map">
          <RouteMap
            track={track}
            worker={worker}
            stops={day.value?.stops ?? NO_STOPS}
            cursor={cursor}
            follow={follow}
            onFollow={() => setFollow(!follow)}
          />
          {nothing && <Nothing id={id} onSpan={onSpan} />}
          {problem instanceof TooMuch && (
            <Empty icon="map" title={t("history.tooMuch")} text={t("history.shorter")} />
          )}
          {Boolean(problem) && !(problem instanceof TooMuch) && (
            <Problem problem={problem} onRetry={reload} />
          )}
        </div>
        <div class="history-film">
          <Film deviceId={id} cursor={cursor} lanes={cameras} marked={marked} />
        </div>
        <div class="history-side">
          <fieldset class="chips">
            <legend class="hidden">{t("history.side")}</legend>
            {SIDES.map((each) => (
              <button
                key={each}
                type="button"
                class="chip"
                aria-pressed={side === each}
                onClick={() => setSide(each)}
              >
                {t(`history.side.${each}`)}
              </button>
            ))}
          </fieldset>
          {day.problem !== null && <Problem problem={day.problem} onRetry={day.reload} />}
          {!day.value && day.problem === null && <Skeleton label={t("common.loading")} lines={5} />}
          {side === "day" && day.value && (
            <DayList
              day={day.value}
              cursor={cursor}
              today={span.to - 1}
              onChoose={(from, to) => show(from - (to - from) / 10, to + (to - from) / 10, from)}
            />
          )}
          {side === "events" && day.value && (
            <EventRows
              day={day.value}
              cursor={cursor}
              today={span.to - 1}
              zones={zones}
              onChoose={(at) => {
                cursor.at.value = at;
              }}
            />
          )}
          {side === "moment" && track && <Moment track={track} cursor={cursor} />}
        </div>
      </div>
      <div class="history-foot">
        <ReplayBar track={track} cursor={cursor} span={span} />
        {track && track.skipped > 0 && (
          <p class="faint history-skipped">{t("history.skipped", { count: track.skipped })}</p>
        )}
        <Timeline
          lanes={lanes}
          cursor={cursor}
          limit={span}
          marks={(lane) => lane.startsWith("camera-")}
          onSpan={(lane, drawn) => {
            marked.value = { lane, span: drawn };
          }}
        >
          {track && track.at.length > 0 ? <SpeedGraph track={track} cursor={cursor} /> : null}
        </Timeline>
        <p class="print-only">
          {t("history.printed", {
            from: dateTime(span.from, look),
            to: dateTime(span.to, look),
            zone: look.zone,
          })}
        </p>
      </div>
    </>
  );
}

const NO_STOPS: readonly StopItem[] = [];

/** Said over the map where the span holds nothing, with the way to the last report. */
function Nothing({ id, onSpan }: { id: number; onSpan: SpanViewProps["onSpan"] }) {
  const last = position(id).value;
  const at = last ? Date.parse(last.fixTime) : null;
  return (
    <Empty icon="history" title={t("history.empty")} text={t("history.emptyText")}>
      {at !== null && (
        <button type="button" onClick={() => onSpan(dayOf(at, style.value.zone), at)}>
          {t("history.toLast", { time: dateTime(at, style.value) })}
        </button>
      )}
    </Empty>
  );
}
