/** What belongs to an event: positions around it, files that the vehicle sent, films. Pure. */

import type { Capture, Event, Evidence, Footage, Position } from "../../api/types";
import type { Span } from "../../time/spans";
import { spanShown } from "../../video/recorded/clock";
import { isOpen } from "../../video/recorded/footage";

/** The way that the map shows. */
export const WAY_MS = 2 * 60_000;
/** How long before and after the event a fetched film begins and ends. */
export const FILM_BEFORE_MS = 15_000;
export const FILM_AFTER_MS = 45_000;

/** The position of an event, with the ones before and after it. */
export interface Around {
  before: Position | undefined;
  then: Position | undefined;
  after: Position | undefined;
}

/** The positions next to an event; without its own position the last one that is not later than it. */
export function around(event: Event, track: readonly Position[], own: Position | undefined): Around {
  const byTime = [...track].sort((a, b) => timeOf(a) - timeOf(b) || a.id - b.id);
  const known = own ?? byTime.find(({ id }) => id === event.positionId);
  const at = Date.parse(event.eventTime);
  const then = known ?? byTime.findLast((each) => timeOf(each) <= at);
  if (!then) return { before: undefined, then, after: byTime[0] };
  return {
    before: byTime.findLast((each) => timeOf(each) < timeOf(then)),
    then,
    after: byTime.find((each) => timeOf(each) > timeOf(then)),
  };
}

/** Whether the vehicle can have been at a position: some devices send 0°, 0° while they have no fix. */
export function isPlace(position: Position | undefined): position is Position {
  if (!position?.valid || position.attributes.implausible) return false;
  return position.latitude !== 0 || position.longitude !== 0;
}

function timeOf(position: Position): number {
  return Date.parse(position.fixTime);
}

/** The span of the film of an event. */
export function filmSpan(at: number): Span {
  return { from: at - FILM_BEFORE_MS, to: at + FILM_AFTER_MS };
}

/** What became of a film. */
export type FilmState = "waiting" | "fetching" | "kept" | "failed" | "expired";

/** Film of a camera that is kept, or on its way. */
export interface Film {
  channel: number;
  span: Span;
  state: FilmState;
  fileName: string | null;
  url: string | null;
  /** Bytes that are there. */
  size: number | null;
  captureId: string | null;
  /** The footage request, if it has not ended. */
  request: Footage | null;
  /** Why it waits or has failed, in the words of the server. */
  reason: string | null;
}

const STATES: Record<Footage["status"], FilmState> = {
  WAITING: "waiting",
  FETCHING: "fetching",
  COMPLETE: "kept",
  FAILED: "failed",
  EXPIRED: "expired",
};

/**
 * The films that show the event, by camera: what is asked for, and captures, which know more of the same film.
 * `clock` is by how much the clock of a camera is off, in milliseconds; spans are of true time.
 */
export function filmsOf(
  event: Event,
  requests: readonly Footage[],
  captures: readonly Capture[],
  clock: (camera: number) => number,
): readonly Film[] {
  const at = Date.parse(event.eventTime);
  const shows = ({ span }: Film) => span.from <= at && at <= span.to;
  const shown = (film: Film) => ({ ...film, span: spanShown(film.span, clock(film.channel)) });
  const asked = requests
    .filter((each) => each.deviceId === event.deviceId)
    .map(ofRequest)
    .map(shown);
  const recorded = captures
    .filter(({ live }) => !live)
    .flatMap(ofCapture)
    .map(shown);
  const known = new Map(recorded.map((film) => [film.captureId, film]));
  for (const { captureId } of asked) known.delete(captureId);
  const merged = asked.filter(shows).map((film) => {
    const same = recorded.find(({ captureId }) => captureId === film.captureId);
    // What came may be shorter than what was asked for.
    return same ? { ...film, size: same.size, ...(film.state === "kept" && { span: same.span }) } : film;
  });
  return [...merged, ...[...known.values()].filter(shows)].sort((a, b) => a.channel - b.channel);
}

function ofRequest(request: Footage): Film {
  const { channel, status, fileName, url, captureId, reason } = request;
  return {
    channel,
    span: { from: Date.parse(request.startTime), to: Date.parse(request.endTime) },
    state: STATES[status],
    fileName,
    url,
    size: null,
    captureId,
    request: isOpen(request) ? request : null,
    reason,
  };
}

function ofCapture({ startTime, endTime, status, ...capture }: Capture): readonly Film[] {
  if (!startTime || !endTime) return [];
  return [
    {
      channel: capture.channel,
      span: { from: Date.parse(startTime), to: Date.parse(endTime) },
      state: status === "COMPLETE" ? "kept" : status === "RECORDING" ? "fetching" : "failed",
      fileName: capture.fileName,
      url: capture.url,
      size: capture.size,
      captureId: capture.id,
      request: null,
      reason: capture.reason,
    },
  ];
}

/** The cameras of which no film is there, or on its way. */
export function camerasWithout(cameras: readonly number[], films: readonly Film[]): readonly number[] {
  const wanted = films.filter(({ state }) => state !== "failed" && state !== "expired");
  return cameras.filter((camera) => !wanted.some(({ channel }) => channel === camera));
}

/** A file that the vehicle sent. */
export interface VehicleFile {
  kind: "image" | "video" | "audio" | "other";
  name: string;
  at: number;
  channel: number | null;
  size: number;
  /** Where it is as MP4; null where it is no film. */
  playUrl: string | null;
  pictureUrl: string | null;
  /** When the camera says that it took it, by its own clock: `2026-11-21T14:32:07`; null where it does not. */
  cameraTime: string | null;
}

const KINDS: Partial<Record<Evidence["kind"], VehicleFile["kind"]>> = {
  photo: "image",
  film: "video",
  sound: "audio",
};

/** The files that the vehicle sent, the nearest to the event first. */
export function filesOf(event: Event, evidence: readonly Evidence[]): readonly VehicleFile[] {
  const at = Date.parse(event.eventTime);
  return evidence
    .filter(({ kind }) => kind !== "capture")
    .map(({ kind, fileName, time, channel, size, playUrl, pictureUrl, cameraTime }) => ({
      ...{ channel, size, playUrl, pictureUrl, cameraTime },
      kind: KINDS[kind] ?? "other",
      name: fileName,
      at: Date.parse(time),
    }))
    .sort((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at));
}

/** Clocks of cameras show local time of whatever place: by as much they may differ without being off. */
const ZONES_MS = 14 * 3_600_000;

/** The time of a camera that is not that of the event in any time zone; null where it may be. */
export function wrongTime(at: number, cameraTime: string | null): number | null {
  const shown = cameraTime === null ? Number.NaN : Date.parse(`${cameraTime}Z`);
  return Math.abs(shown - at) > ZONES_MS ? shown : null;
}

/** Names of values that differ between the positions come first, then the others. */
export function valueNames({ before, then, after }: Around, first: readonly string[]): readonly string[] {
  const all = [before, then, after].map((position) => position?.attributes ?? {});
  const names = [...new Set(all.flatMap(Object.keys))];
  const changes = (name: string) =>
    new Set([before, then, after].filter(Boolean).map((each) => JSON.stringify(each?.attributes[name])))
      .size > 1;
  const rank = (name: string) => {
    const known = first.indexOf(name);
    return (changes(name) ? 0 : 1000) + (known < 0 ? 500 : known);
  };
  return names.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}
