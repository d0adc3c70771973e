import { expect, test } from "vitest";
import { actsIn } from "./namedActs";

const acts = [
  { label: "Live" },
  { label: "History", words: "trips relatório" },
  { label: "Follow on the map" },
];
const vehicles = [
  { id: 1, name: "Van 7", uniqueId: "0139" },
  { id: 2, name: "Van 8", uniqueId: "0140" },
];

function named(text: string, open?: number): readonly string[] {
  const found = vehicles.find((each) => each.id === open);
  return actsIn(text, acts, vehicles, found).map(({ act, vehicle }) => `${vehicle.name} ${act.label}`);
}

test("words name an act and a vehicle, in any order and by their beginning", () => {
  expect(named("7 hist")).toEqual(["Van 7 History"]);
  expect(named("LIVE van")).toEqual(["Van 7 Live", "Van 8 Live"]);
  expect(named("map 0140")).toEqual(["Van 8 Follow on the map"]);
});

test("an act alone is of the vehicle that is open, else of each", () => {
  expect(named("live")).toEqual(["Van 7 Live", "Van 8 Live"]);
  expect(named("live", 2)).toEqual(["Van 8 Live"]);
});

test("an act has other words, and accents do not matter", () => {
  expect(named("trip 7")).toEqual(["Van 7 History"]);
  expect(named("RELATORIO", 2)).toEqual(["Van 8 History"]);
});

test("the open vehicle, or the only one that fits, has all acts", () => {
  const all = ["Van 8 Live", "Van 8 History", "Van 8 Follow on the map"];
  expect(named("", 2)).toEqual(all);
  expect(named(" van  8 ")).toEqual(all);
  expect(named("")).toEqual([]);
  expect(named("van")).toEqual([]);
  expect(named("bus live", 2)).toEqual([]);
});

test("a fleet of thousands lists no more than fifty", () => {
  const fleet = [...Array(5000).keys()].map((id) => ({ id, name: `Van ${id}`, uniqueId: `${id}` }));
  expect(actsIn("live van", acts, fleet, undefined)).toHaveLength(50);
});
