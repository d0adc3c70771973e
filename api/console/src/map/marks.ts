/** The marks of vehicles on the part of the map that is seen. */

import { type Box, cluster, degreesOf, type Mark, placeOf, widened, within } from "./clusters";
import { alarmOf, propertiesOf, type Vehicle } from "./vehicles";
import { point } from "./world";

/** Vehicles have their names beside them from this zoom on, and before where there are no more marks than this. */
const NAMES_ZOOM = 12;
const NAMED_MARKS = 40;

/** Pixels from the pointer to a longitude and latitude in degrees. */
type Distance = (longitude: number, latitude: number) => number;

export class Marks {
  #vehicles: readonly Vehicle[] = [];
  #marks: readonly Mark[] = [];
  #shown: readonly Mark[] = [];
  #level = Number.NaN;

  /** Draw these vehicles from now on. */
  set(vehicles: readonly Vehicle[]): void {
    this.#vehicles = vehicles;
    this.#level = Number.NaN;
  }

  /** Whether a zoom has the same marks as the one that is drawn. */
  isDrawnAt(zoom: number): boolean {
    return Math.floor(zoom) === this.#level;
  }

  /** The features of the marks in a box and around it. */
  features(box: Box, zoom: number, language: string): GeoJSON.Feature[] {
    if (!this.isDrawnAt(zoom)) {
      this.#level = Math.floor(zoom);
      const places = this.#vehicles.map(({ longitude, latitude }) => placeOf(longitude, latitude));
      this.#marks = cluster(places, this.#level);
    }
    this.#shown = within(this.#marks, widened(box));
    const named = zoom >= NAMES_ZOOM || this.#shown.length <= NAMED_MARKS;
    return this.#shown.map((mark) => {
      const [only, other] = this.#membersOf(mark);
      if (only && !other) return point(only.longitude, only.latitude, propertiesOf(only, named));
      const label = mark.members.length.toLocaleString(language);
      const alarms = alarmOf(this.#membersOf(mark).map(({ alarm }) => alarm));
      return point(...degreesOf(mark), { label, radius: mark.radius, ...alarms });
    });
  }

  /** The vehicles of the mark at the pointer, which may miss it by `slack` pixels. */
  under(distance: Distance, slack: number): readonly Vehicle[] {
    let best: Mark | null = null;
    let nearest = slack;
    for (const mark of this.#shown) {
      const away = distance(...degreesOf(mark)) - mark.radius;
      if (away < nearest) [best, nearest] = [mark, away];
    }
    return best ? this.#membersOf(best) : [];
  }

  #membersOf(mark: Mark): readonly Vehicle[] {
    return mark.members.map((index) => this.#vehicles[index]).filter((each) => each !== undefined);
  }
}
