/** Lanes of cameras: what the vehicle says it has, what arrived of a playback, what is kept. Pure. */

import type { Capture, Footage, Playback, Recording } from "../../api/types";
import type { Key } from "../../i18n/translate";
import type { Span } from "../../time/spans";
import type { Block, Lane } from "../../timeline/lanes";
import { spanShown } from "./clock";

export interface CameraFacts {
  cameras: readonly number[];
  /** By how much the clock of a camera is off, in milliseconds; all times but those of `arrived` are the camera's own. */
  clockOf: (camera: number) => number;
  /** What a camera is called. */
  labelOf: (camera: number) => string;
  recordings: readonly Recording[];
  playbacks: readonly Playback[];
  /** Captures with the span of the recording that they hold. */
  captures: readonly { capture: Capture; span: Span }[];
  footage: readonly Footage[];
  /** What has arrived at the player of a camera. */
  arrived: ReadonlyMap<number, readonly Span[]>;
}

interface Acts {
  text: (key: Key, values?: Record<string, string | number>) => string;
  /** How long a span is, for people. */
  lengthOf: (span: Span) => string;
  /** Play what has arrived of a camera's playback. */
  watch: (camera: number) => void;
  /** Play a kept file. */
  play: (capture: Capture) => void;
}

/** One lane a camera, `camera 1` being the lane `camera-1`. */
export function cameraLanes(facts: CameraFacts, { text, lengthOf, watch, play }: Acts): readonly Lane[] {
  return facts.cameras.map((camera) => {
    const blocks: Block[] = [];
    const clock = facts.clockOf(camera);
    for (const each of facts.recordings) {
      if (each.channel !== camera) continue;
      const alarm = each.alarmFlag !== 0;
      blocks.push({
        ...spanShown({ from: Date.parse(each.startTime), to: Date.parse(each.endTime) }, clock),
        kind: "recording",
        label: text(alarm ? "film.onVehicleAlarm" : "film.onVehicle"),
        tone: alarm ? "bad" : "offline",
        hatched: true,
        height: each.streamType === 2 ? 0.5 : 1,
      });
    }
    for (const each of facts.footage) {
      if (each.channel !== camera || (each.status !== "WAITING" && each.status !== "FETCHING")) continue;
      const span = { from: Date.parse(each.startTime), to: Date.parse(each.endTime) };
      blocks.push({
        ...spanShown(span, clock),
        kind: "wanted",
        label: text("film.wanted"),
        tone: "unknown",
        height: 0.5,
      });
    }
    for (const span of arrivedSpans(facts, camera)) {
      blocks.push({
        ...span,
        kind: "arrived",
        label: text("film.arrived"),
        tone: "accent",
        act: () => watch(camera),
      });
    }
    for (const { capture, span } of facts.captures) {
      if (capture.channel !== camera || capture.status === "FAILED" || span.from >= span.to) continue;
      blocks.push({
        ...spanShown(span, clock),
        kind: "kept",
        label: text(capture.live ? "film.keptLive" : "film.kept", { length: lengthOf(span) }),
        name: lengthOf(span),
        tone: "good",
        height: 0.5,
        ...(capture.status === "COMPLETE" && capture.url && { act: () => play(capture) }),
      });
    }
    blocks.sort((one, other) => one.from - other.from);
    return { id: laneOf(camera), label: facts.labelOf(camera), blocks };
  });
}

export function laneOf(camera: number): string {
  return `camera-${camera}`;
}

export function cameraOf(lane: string): number | null {
  const found = /^camera-(\d+)$/.exec(lane);
  return found ? Number(found[1]) : null;
}

/** What arrived: as the player knows it, else as the server says. */
function arrivedSpans(facts: CameraFacts, camera: number): readonly Span[] {
  const known = facts.arrived.get(camera);
  if (known?.length) return known;
  const playback = facts.playbacks.find((each) => each.channel === camera);
  if (!playback?.arrivedTo || !playback.seconds) return [];
  const to = Date.parse(playback.arrivedTo);
  // After a seek only the last part is known, and it is at most as long as what is kept.
  const asked = playback.startTime ? Date.parse(playback.startTime) : to;
  const from = Math.max(to - playback.seconds * 1000, Math.min(asked, to));
  return from < to ? [spanShown({ from, to }, facts.clockOf(camera))] : [];
}
