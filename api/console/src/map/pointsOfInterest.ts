/** Points of interest of a KML file, with their names, under everything else. */

import type { Map as MapLibre } from "maplibre-gl";
import type { Drawn } from "./baseMap";
import type { Colors } from "./colors";
import { collection, point } from "./world";

/** More of them are left out. */
const MOST = 5000;
const NAMES_ZOOM = 9;
const SOURCE = "places";

/** Read the places of a KML file; none if it cannot be read, since the map is more than they. */
export async function loadPointsOfInterest(url: string): Promise<GeoJSON.FeatureCollection> {
  try {
    const answer = await fetch(url);
    if (!answer.ok) return collection([]);
    return placesOf(new DOMParser().parseFromString(await answer.text(), "application/xml"));
  } catch {
    return collection([]);
  }
}

/** The points of a document of KML 2.2 (https://www.ogc.org/standard/kml/); other geometry is left out. */
function placesOf(kml: Document): GeoJSON.FeatureCollection {
  const found: GeoJSON.Feature[] = [];
  for (const mark of kml.getElementsByTagNameNS("*", "Placemark")) {
    const text = mark
      .getElementsByTagNameNS("*", "Point")[0]
      ?.getElementsByTagNameNS("*", "coordinates")[0]?.textContent;
    const [longitude = Number.NaN, latitude = Number.NaN] = (text ?? "").trim().split(",").map(Number);
    if (!(Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90)) continue;
    const name = mark.getElementsByTagNameNS("*", "name")[0]?.textContent?.trim() ?? "";
    found.push(point(longitude, latitude, { name }));
    if (found.length === MOST) break;
  }
  return collection(found);
}

export class PointsOfInterest implements Drawn {
  constructor(
    private readonly map: MapLibre,
    private readonly data: GeoJSON.FeatureCollection,
  ) {}

  add(colors: Colors, font: string[]): void {
    this.map.addSource(SOURCE, { type: "geojson", data: this.data });
    this.map.addLayer({
      id: "places",
      type: "circle",
      source: SOURCE,
      paint: {
        "circle-radius": 4,
        "circle-color": colors["map-name"],
        "circle-stroke-color": colors.card,
        "circle-stroke-width": 1.5,
      },
    });
    this.map.addLayer({
      id: "place-names",
      type: "symbol",
      source: SOURCE,
      minzoom: NAMES_ZOOM,
      layout: {
        "text-field": ["get", "name"],
        "text-font": font,
        "text-size": 13,
        "text-anchor": "left",
        "text-offset": [0.7, 0],
      },
      paint: {
        "text-color": colors["map-name"],
        "text-halo-color": colors["map-land"],
        "text-halo-width": 1.2,
      },
    });
  }
}
