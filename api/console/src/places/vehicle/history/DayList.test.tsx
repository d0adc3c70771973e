import { render, screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { StopItem, TripItem } from "../../../api/types";
import { makeCursor } from "../../../time/cursor";
import { DayList } from "./DayList";

const AT = Date.parse("2026-06-15T12:00:00Z");
const HOUR = 3_600_000;
const span = (from: number, to: number) => ({
  startTime: new Date(AT + from * HOUR).toISOString(),
  endTime: new Date(AT + to * HOUR).toISOString(),
  distance: 0,
  duration: (to - from) * HOUR,
  maxSpeed: 0,
});

function rows(trip: Partial<TripItem>, stop: Partial<StopItem>): readonly string[] {
  const day = {
    trips: [{ ...span(0, 1), startLat: 52, startLon: 13, endLat: 53, endLon: 14, ...trip } as TripItem],
    stops: [{ ...span(1, 2), latitude: 53, longitude: 14, ...stop } as StopItem],
    events: [],
    moreEvents: false,
  };
  const cursor = makeCursor({ from: AT, to: AT + 2 * HOUR }, AT);
  const { unmount } = render(<DayList day={day} cursor={cursor} today={AT} onChoose={() => {}} />);
  const found = screen.getAllByRole("listitem").map(({ textContent }) => textContent ?? "");
  unmount();
  return found;
}

test("trips and stops say where in words, and by coordinates where nothing is known", () => {
  const [trip, stop] = rows(
    { startPlace: "Depot", endPlace: "Potsdam, 3 km NE", startAddress: "Road 1" },
    { place: "Potsdam, 3 km NE" },
  );
  expect(trip).toContain("Depot");
  expect(trip).toContain("Potsdam, 3 km NE");
  expect(trip).not.toContain("Road 1");
  expect(stop).toContain("Potsdam, 3 km NE");
  const [before, after] = rows({ startPlace: null, endPlace: null }, { place: null });
  expect(before).toMatch(/52.*13.*53.*14/);
  expect(after).toMatch(/53.*14/);
});
