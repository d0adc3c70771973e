import { effect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { StopItem, TripItem } from "../../../api/types";
import { coordinates } from "../../../format/coordinates";
import { clockTime, duration, shortTime } from "../../../format/times";
import { distance, speed } from "../../../format/units";
import { t } from "../../../i18n/translate";
import { style } from "../../../state/session";
import type { Cursor } from "../../../time/cursor";
import { sums } from "./dayLanes";
import type { Day } from "./useHistory";

interface DayListProps {
  day: Day;
  cursor: Cursor;
  /** Times of its day are written without the day. */
  today: number;
  /** Move the cursor, and zoom to what is there. */
  onChoose: (from: number, to: number) => void;
}

type Item = { from: number; to: number } & (
  | { trip: TripItem; stop?: undefined }
  | { stop: StopItem; number: number; trip?: undefined }
);

/** Trips and stops in their order; a click goes to where one begins. */
export function DayList({ day, cursor, today, onChoose }: DayListProps) {
  const list = useRef<HTMLOListElement>(null);
  const items = useMemo(() => itemsOf(day), [day]);
  // Drawn only when the cursor reaches another one, not with each of its movements.
  const [current, setCurrent] = useState(-1);
  useEffect(
    () =>
      effect(() => {
        const at = cursor.at.value;
        setCurrent(items.findIndex(({ from, to }) => at >= from && at < to));
      }),
    [cursor, items],
  );
  useEffect(() => showRow(list.current?.children[current]), [current, items]);
  const total = sums(day);
  if (items.length === 0) return <p class="faint">{t("history.noTrips")}</p>;
  return (
    <>
      <p class="day-sums">
        {t("history.trips", { count: day.trips.length })}
        {" · "}
        {distance(total.distance, style.value)}
        {" · "}
        {t("history.driving", { span: duration(total.moving, style.value) })}
        {" · "}
        {t("history.standing", { span: duration(total.standing, style.value) })}
      </p>
      <ol ref={list} class="day-list" aria-label={t("history.tripsAndStops")}>
        {items.map((item, index) => (
          <li key={`${item.from} ${item.trip ? "trip" : "stop"}`}>
            <button
              type="button"
              aria-current={index === current ? "true" : undefined}
              onClick={() => onChoose(item.from, item.to)}
            >
              {item.trip ? <Trip of={item.trip} /> : <Stop of={item.stop} number={item.number} />}
              <span class="day-time">
                {shortTime(item.from, today, style.value)} – {clockTime(item.to, style.value)}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

function itemsOf({ trips, stops }: Day): readonly Item[] {
  const items: Item[] = [
    ...trips.map((trip) => ({ ...ends(trip), trip })),
    ...stops.map((stop, index) => ({ ...ends(stop), stop, number: index + 1 })),
  ];
  return items.sort((one, other) => one.from - other.from);
}

/** Scroll the list to a row; the page around it stays. */
function showRow(row: Element | undefined): void {
  const box = row?.closest(".history-side");
  if (!row || !box) return;
  const [outer, inner] = [box.getBoundingClientRect(), row.getBoundingClientRect()];
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}

function Trip({ of }: { of: TripItem }) {
  const from = of.startPlace ?? coordinates(of.startLat, of.startLon, style.value);
  const to = of.endPlace ?? coordinates(of.endLat, of.endLon, style.value);
  return (
    <>
      <span class="day-mark trip" aria-hidden="true" />
      <strong>
        {t("history.trip")} · {distance(of.distance, style.value)}
      </strong>
      <span class="day-more">
        {duration(of.duration, style.value)}
        {" · "}
        {t("history.highest", { speed: speed(of.maxSpeed, style.value) })}
      </span>
      <span class="day-place">{t("history.fromTo", { from, to })}</span>
    </>
  );
}

function Stop({ of, number }: { of: StopItem; number: number }) {
  return (
    <>
      <span class="day-mark stop" aria-hidden="true">
        {number}
      </span>
      <strong>{t("history.stop", { number })}</strong>
      <span class="day-more">{duration(of.duration, style.value)}</span>
      <span class="day-place" translate={false}>
        {of.place ?? coordinates(of.latitude, of.longitude, style.value)}
      </span>
    </>
  );
}

function ends({ startTime, endTime }: { startTime: string; endTime: string }) {
  return { from: Date.parse(startTime), to: Date.parse(endTime) };
}
