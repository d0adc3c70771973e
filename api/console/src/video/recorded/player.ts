/** Plays what has arrived of a playback, or a kept file, and says which instant of the recording is shown. */

import { type Signal, signal } from "@preact/signals";
import workerPath from "hls.js/dist/hls.worker.js?url";
import Hls, { type ErrorData, type HlsConfig } from "hls.js/light";
import { address } from "../../api/call";
import type { Span } from "../../time/spans";
import { arrivedOf, instantAt, mediaTimeOf, type Segment, seekable } from "./instants";

export type Source =
  | { kind: "playback"; deviceId: number; camera: number }
  /** A kept file; `from` is when its first picture was recorded. */
  | { kind: "file"; url: string; from: number; to: number };

/** What the player does; `waiting` for media that has not arrived. */
export type Phase =
  | { name: "waiting" }
  | { name: "playing" }
  | { name: "paused" }
  | { name: "ended" }
  | { name: "codec" }
  | { name: "broken" }
  | { name: "refused"; status: number; text: string };

/** Between two readings of a playlist that is still empty. */
const EMPTY_MS = 1000;
/** The server holds a first request for ten seconds. */
const PATIENCE_MS = 20_000;
/** Between two writes of `at` while it plays, in milliseconds. */
const PACE_MS = 100;
/** Media of a playback that is needed before it plays: with one segment the picture would stop after it. */
const SEGMENTS_AHEAD = 2;
/** Another camera may have stood at the very end of what has arrived, in milliseconds. */
const END_MS = 500;
const FRAME_SECONDS = 1 / 15;
const CODEC_ERRORS: readonly string[] = [
  Hls.ErrorDetails.MANIFEST_INCOMPATIBLE_CODECS_ERROR,
  Hls.ErrorDetails.BUFFER_ADD_CODEC_ERROR,
  Hls.ErrorDetails.BUFFER_INCOMPATIBLE_CODECS_ERROR,
];

export class RecordedPlayer {
  readonly phase: Signal<Phase> = signal({ name: "waiting" });
  /** The instant of the picture that is shown, in milliseconds since 1970; null while that is not known. */
  readonly at: Signal<number | null> = signal(null);
  /** Which spans of the recording can be sought. */
  readonly arrived: Signal<readonly Span[]> = signal([]);
  /** Whether there is enough to play. */
  readonly ready = signal(false);
  /** Whether more of a playback may arrive. */
  readonly growing = signal(false);
  private hls: Hls | null = null;
  private segments: readonly Segment[] = [];
  private wanted = true;
  /** An instant to begin at as soon as it has arrived. */
  private pending: number | null;
  private buffered = 0;
  private recovered = false;
  private wroteAt = 0;
  private frame = 0;
  private timer = 0;
  /** Milliseconds that are added to the times of the recording. */
  private clock = 0;
  private readonly ends = new AbortController();

  /** Begins to play at `begin` once that has arrived; null: at the start of what there is. */
  constructor(
    source: Source,
    private readonly video: HTMLVideoElement,
    begin: number | null,
    private rate = 1,
  ) {
    this.pending = begin;
    const on = (name: string, handler: () => void) =>
      video.addEventListener(name, handler, { signal: this.ends.signal });
    on("playing", () => this.enter({ name: "playing" }));
    on("pause", () => {
      this.show(video.currentTime, true);
      if (!video.ended && !this.wanted) this.enter({ name: "paused" });
    });
    on("waiting", () => {
      if (this.wanted) this.enter({ name: "waiting" });
    });
    on("ended", () => this.enter({ name: "ended" }));
    on("seeked", () => this.show(video.currentTime, true));
    on("loadedmetadata", () => {
      video.playbackRate = this.rate;
    });
    on("error", () => {
      if (source.kind === "file") this.enter({ name: video.error?.code === 4 ? "codec" : "broken" });
    });
    this.follow();
    if (source.kind === "file") this.openFile(source);
    else void this.ask(address(`/stream/${source.deviceId}/${source.camera}/playback.m3u8`));
  }

  /** Show an instant. Returns false if it has not arrived. */
  seek(instant: number): boolean {
    const time = this.timeOf(instant);
    if (time === null) return false;
    this.pending = null;
    this.video.currentTime = this.growing.peek() ? seekable(this.segments, time) : time;
    if (this.phase.peek().name === "ended") this.enter({ name: "paused" });
    return true;
  }

  /** The instant at which the player is now, or null. */
  now(): number | null {
    return instantAt(this.segments, this.video.currentTime);
  }

  /** The rate at which it plays. */
  get pace(): number {
    return this.rate;
  }

  /** Seconds of media after the one that is shown. */
  ahead(): number {
    const { buffered, currentTime } = this.video;
    return buffered.length === 0 ? 0 : Math.max(0, buffered.end(buffered.length - 1) - currentTime);
  }

  /** Add so many milliseconds to the times of the recording, whose clock is off. */
  setClock(milliseconds: number): void {
    const by = milliseconds - this.clock;
    if (by === 0) return;
    this.clock = milliseconds;
    this.take(this.segments, by);
    this.show(this.video.currentTime, true);
  }

  /** Show an instant as soon as it has arrived. */
  expect(instant: number): void {
    this.pending = instant;
  }

  play(): void {
    this.wanted = true;
    void this.video.play().catch(() => {});
  }

  pause(): void {
    this.wanted = false;
    this.video.pause();
    if (this.phase.peek().name === "playing" || this.phase.peek().name === "waiting")
      this.enter({ name: "paused" });
  }

  setRate(rate: number): void {
    this.rate = rate;
    this.video.playbackRate = rate;
  }

  /** Pause where other cameras can be shown as well: not at the very end of what has arrived. */
  rest(): void {
    this.pause();
    const { video } = this;
    const reached = this.growing.peek() ? seekable(this.segments, video.currentTime) : video.currentTime;
    if (reached < video.currentTime && !video.seeking) video.currentTime = reached;
  }

  /** One picture on or back. */
  step(direction: -1 | 1): void {
    this.pause();
    this.video.currentTime = Math.max(0, this.video.currentTime + direction * FRAME_SECONDS);
  }

  destroy(): void {
    this.ends.abort();
    clearTimeout(this.timer);
    if (this.frame) this.video.cancelVideoFrameCallback?.(this.frame);
    this.hls?.destroy();
    this.hls = null;
    this.video.removeAttribute("src");
    this.video.load();
  }

  private enter(phase: Phase): void {
    if (!this.ends.signal.aborted) this.phase.value = phase;
  }

  private openFile({ url, from, to }: Extract<Source, { kind: "file" }>): void {
    const { video } = this;
    video.src = url;
    const ready = () => {
      // What was sought while it was kept is in the file as well, and then its times are not known.
      const straight = Math.abs(video.duration * 1000 - (to - from)) < 3000 + (to - from) / 20;
      const whole = { start: 0, duration: video.duration, programDateTime: from };
      this.take(straight ? [whole] : [], this.clock);
      this.begin();
    };
    video.addEventListener("loadedmetadata", ready, { signal: this.ends.signal, once: true });
  }

  /** Read the playlist until something is in it. */
  private async ask(url: string): Promise<void> {
    const { signal: ended } = this.ends;
    while (!ended.aborted) {
      try {
        const patience = AbortSignal.any([ended, AbortSignal.timeout(PATIENCE_MS)]);
        const answer = await fetch(url, { cache: "no-store", signal: patience });
        const text = await answer.text();
        if (!answer.ok) {
          this.enter({ name: "refused", status: answer.status, text: text.slice(0, 300) });
          return;
        }
        if (text.includes("#EXTINF:")) {
          this.load(url);
          return;
        }
        if (text.includes("#EXT-X-ENDLIST")) {
          this.enter({ name: "ended" });
          return;
        }
      } catch {
        if (ended.aborted) return;
      }
      await new Promise((resolve) => {
        this.timer = window.setTimeout(resolve, EMPTY_MS);
      });
    }
  }

  private load(url: string): void {
    if (this.ends.signal.aborted) return;
    if (!Hls.isSupported()) {
      this.enter({ name: "codec" });
      return;
    }
    const hls = new Hls(SETTINGS);
    this.hls = hls;
    hls.on(Hls.Events.LEVEL_UPDATED, (_, { details }) => this.learn(details.fragments));
    hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => {
      if (!details.live) this.buffered = SEGMENTS_AHEAD;
      this.growing.value = details.live;
      this.learn(details.fragments);
    });
    hls.on(Hls.Events.FRAG_BUFFERED, () => {
      this.buffered += 1;
      const details = hls.levels[0]?.details;
      if (details) this.learn(details.fragments);
      if (this.buffered >= SEGMENTS_AHEAD) this.begin();
    });
    hls.on(Hls.Events.ERROR, (_, problem) => this.failed(hls, problem));
    hls.loadSource(url);
    hls.attachMedia(this.video);
  }

  private learn(fragments: readonly Segment[]): void {
    this.take(fragments, this.clock);
    if (this.pending !== null && this.buffered >= SEGMENTS_AHEAD) this.seek(this.pending);
  }

  /** Know segments, with their times moved. */
  private take(segments: readonly Segment[], by: number): void {
    this.segments = segments.map(({ start, duration, programDateTime }) => ({
      start,
      duration,
      programDateTime: programDateTime === null ? null : programDateTime + by,
    }));
    this.arrived.value = arrivedOf(this.segments);
  }

  private begin(): void {
    if (this.pending !== null && !this.seek(this.pending) && !this.ready.peek())
      this.seek(this.pending - END_MS);
    this.ready.value = true;
    if (this.wanted && this.video.paused) this.play();
  }

  private timeOf(instant: number): number | null {
    return mediaTimeOf(this.segments, instant);
  }

  /** Follow the pictures that are shown. */
  private follow(): void {
    const { video } = this;
    if (!video.requestVideoFrameCallback) {
      video.addEventListener("timeupdate", () => this.show(video.currentTime), { signal: this.ends.signal });
      return;
    }
    const shown = (_: number, { mediaTime }: { mediaTime: number }) => {
      if (this.ends.signal.aborted) return;
      // While it seeks these are pictures of before.
      if (!video.seeking) this.show(mediaTime);
      this.frame = video.requestVideoFrameCallback(shown);
    };
    this.frame = video.requestVideoFrameCallback(shown);
  }

  private show(mediaTime: number, now = this.video.paused): void {
    // The first picture of all is there before the one that it is to begin with.
    if (this.pending !== null && !this.ready.peek()) return;
    const time = performance.now();
    if (!now && time - this.wroteAt < PACE_MS) return;
    const instant = instantAt(this.segments, mediaTime);
    if (instant === null) return;
    this.wroteAt = time;
    this.at.value = instant;
  }

  private failed(hls: Hls, problem: ErrorData): void {
    if (CODEC_ERRORS.includes(problem.details)) this.enter({ name: "codec" });
    else if (!problem.fatal) return;
    else if (problem.type === Hls.ErrorTypes.NETWORK_ERROR)
      this.enter({ name: "refused", status: problem.response?.code ?? 0, text: "" });
    else if (this.recovered) this.enter({ name: "broken" });
    else {
      this.recovered = true;
      hls.recoverMediaError();
    }
  }
}

const SETTINGS: Partial<HlsConfig> = {
  workerPath,
  lowLatencyMode: false,
  // A playlist that still grows counts as live, where playing begins at its end.
  startPosition: 0,
  maxBufferLength: 20,
  backBufferLength: 30,
};
