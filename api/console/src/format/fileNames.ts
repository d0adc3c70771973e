/** Names of files that the page saves, as the server names its own (`actors/words/file_names.py`). */

import { wallOf } from "../time/zones";

const MOST_CHARACTERS = 60;

/** `Van-12_camera-2-front_2026-11-22_14.32.07.mp4`: in the reader's zone, without what file names may not hold. Camera 0 is not known. */
export function pictureName(
  vehicle: string,
  camera: number,
  name: string | null,
  instant: number,
  zone: string,
  extension: string,
): string {
  const { year, month, day, hour, minute, second } = wallOf(instant, zone);
  const date = [year, two(month), two(day)].join("-");
  const time = [hour, minute, second].map(two).join(".");
  const of = camera > 0 ? `_${clean(`camera-${camera} ${name ?? ""}`)}` : "";
  return `${clean(vehicle) || "vehicle"}${of}_${date}_${time}.${extension}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

function clean(text: string): string {
  const shown = text.normalize("NFC").replace(/[^\p{L}\p{N}\p{M}._-]+/gu, " ");
  const joined = shown.trim().split(/\s+/).join("-");
  return [...joined]
    .slice(0, MOST_CHARACTERS)
    .join("")
    .replace(/^[-._]+|[-._]+$/g, "");
}
