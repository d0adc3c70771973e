/** Times of media and instants of the recording, by what a playlist says of its segments. Pure. */

/** A segment of a playlist: media seconds, and the instant of its first picture, where that is known. */
export interface Segment {
  start: number;
  duration: number;
  programDateTime: number | null;
}

interface Range {
  from: number;
  to: number;
}

/** Two segments that are less than this apart belong together, in milliseconds. */
const SEAM_MS = 500;
/** Browsers end a seek once they have some pictures more: at the end of media that still grows it would never end. */
const AHEAD_SECONDS = 1;

/** The instant of the recording that is shown at a media time, or null. */
export function instantAt(segments: readonly Segment[], mediaTime: number): number | null {
  let found: Segment | undefined;
  for (const segment of segments) {
    if (segment.start > mediaTime && found) break;
    found = segment;
  }
  if (!found || found.programDateTime === null) return null;
  return found.programDateTime + (mediaTime - found.start) * 1000;
}

/** The media time at which an instant is shown, or null if it has not arrived. The newest segment of it counts. */
export function mediaTimeOf(segments: readonly Segment[], instant: number): number | null {
  for (let index = segments.length - 1; index >= 0; index -= 1) {
    const segment = segments[index];
    if (!segment || segment.programDateTime === null) continue;
    const offset = (instant - segment.programDateTime) / 1000;
    if (offset >= 0 && offset < segment.duration) return segment.start + offset;
  }
  return null;
}

/** The media time nearest to another one that can be sought now, while more is to come. */
export function seekable(segments: readonly Segment[], time: number): number {
  const last = segments.at(-1);
  if (!last || time < last.start) return time;
  return Math.min(time, Math.max(last.start, last.start + last.duration - AHEAD_SECONDS));
}

/** What of the recording has arrived, in order and joined where it is without a gap. */
export function arrivedOf(segments: readonly Segment[]): readonly Range[] {
  const known = segments
    .flatMap(({ programDateTime: from, duration }) =>
      from === null ? [] : [{ from, to: from + duration * 1000 }],
    )
    .sort((one, other) => one.from - other.from);
  const joined: Range[] = [];
  for (const range of known) {
    const last = joined.at(-1);
    if (last && range.from <= last.to + SEAM_MS) last.to = Math.max(last.to, range.to);
    else joined.push({ ...range });
  }
  return joined;
}
