/** The lanes of a day: trips with stops, and events. Pure. */

import type { Event, StopItem, TripItem } from "../../../api/types";
import type { Block, Lane } from "../../../timeline/lanes";

export interface DayTexts {
  movement: string;
  events: string;
  trip: (trip: TripItem) => string;
  stop: (stop: StopItem, number: number) => string;
  event: (event: Event) => string;
}

interface DayItems {
  trips: readonly TripItem[];
  stops: readonly StopItem[];
  events: readonly Event[];
}

export function dayLanes({ trips, stops, events }: DayItems, texts: DayTexts): readonly Lane[] {
  const movement: Block[] = [
    ...trips.map((trip) => ({ ...endsOf(trip), kind: "trip", label: texts.trip(trip), tone: "moving" })),
    ...stops.map((stop, index) => ({
      ...endsOf(stop),
      kind: "stop",
      label: texts.stop(stop, index + 1),
      tone: "offline",
      height: 0.5 as const,
    })),
  ];
  movement.sort((one, other) => one.from - other.from);
  return [
    { id: "movement", label: texts.movement, blocks: movement },
    {
      id: "events",
      label: texts.events,
      blocks: events.map((event) => {
        const at = Date.parse(event.eventTime);
        const tone = event.type === "alarm" ? "bad" : "unknown";
        return { from: at, to: at, kind: event.type, label: texts.event(event), tone };
      }),
    },
  ];
}

function endsOf({ startTime, endTime }: { startTime: string; endTime: string }): {
  from: number;
  to: number;
} {
  return { from: Date.parse(startTime), to: Date.parse(endTime) };
}

/** What a day amounts to: meters and milliseconds. */
export function sums({ trips, stops }: Pick<DayItems, "trips" | "stops">) {
  const sum = (items: readonly { duration: number }[]) =>
    items.reduce((total, { duration }) => total + duration, 0);
  return {
    distance: trips.reduce((total, { distance }) => total + distance, 0),
    moving: sum(trips),
    standing: sum(stops),
  };
}
