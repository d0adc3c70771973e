/** Speeds, distances, altitudes and volumes of the API (knots, metres, litres) in the reader's units. */

import type { Style } from "./style";

const KNOT = { kn: 1, kmh: 1.852, mph: 1.150779 };
const METER = { km: 1000, mi: 1609.344, nmi: 1852 };
const FOOT = 0.3048;
const LITER = { ltr: 1, usGal: 3.785411784, impGal: 4.54609 };
const SIGNS = { kn: "kn", kmh: "km/h", mph: "mph", km: "km", mi: "mi", nmi: "nmi", m: "m", ft: "ft" };
const VOLUME_SIGNS = { ltr: "l", usGal: "US gal", impGal: "imp gal" };

const formats = new Map<string, Intl.NumberFormat>();

/** A number with a fixed count of decimals, grouped as the language does it. */
export function number(value: number, decimals: number, style: Pick<Style, "language">): string {
  const key = `${style.language} ${decimals}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat(style.language, {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
    formats.set(key, format);
  }
  return format.format(value);
}

/** A speed without its sign, for charts: knots in the reader's unit. */
export function speedIn(knots: number, style: Style): number {
  return knots * KNOT[style.speedUnit];
}

/** The sign of the reader's unit of speed: `km/h`. */
export function speedSign(style: Style): string {
  return SIGNS[style.speedUnit];
}

/** Knots as `54 km/h`. */
export function speed(knots: number, style: Style): string {
  return `${number(Math.round(speedIn(knots, style)) || 0, 0, style)} ${speedSign(style)}`;
}

/** A distance without its sign: metres in the reader's unit. */
export function distanceIn(meters: number, style: Style): number {
  return meters / METER[style.distanceUnit];
}

/** Metres as `12.4 km`; from 100 on without decimals. */
export function distance(meters: number, style: Style): string {
  const value = distanceIn(meters, style);
  return `${number(value, Math.abs(value) < 100 ? 1 : 0, style)} ${SIGNS[style.distanceUnit]}`;
}

/** Metres above the sea as `340 m`. */
export function altitude(meters: number, style: Style): string {
  const value = style.altitudeUnit === "ft" ? meters / FOOT : meters;
  return `${number(Math.round(value) || 0, 0, style)} ${SIGNS[style.altitudeUnit]}`;
}

/** Litres as `41.5 l`. */
export function volume(liters: number, style: Style): string {
  return `${number(liters / LITER[style.volumeUnit], 1, style)} ${VOLUME_SIGNS[style.volumeUnit]}`;
}

/** Litres per 100 km as `8.4 l/100 km`, or what the reader's units make of it. */
export function consumption(liters: number, style: Style): string {
  const value = (liters / LITER[style.volumeUnit]) * (METER[style.distanceUnit] / METER.km);
  return `${number(value, 1, style)} ${VOLUME_SIGNS[style.volumeUnit]}/100 ${SIGNS[style.distanceUnit]}`;
}

/** Bytes as `18 MB`, with units of 1,000. */
export function bytes(count: number, style: Pick<Style, "language">): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = count;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${number(value, unit > 0 && value < 10 ? 1 : 0, style)} ${units[unit]}`;
}
