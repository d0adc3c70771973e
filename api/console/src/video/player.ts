/** Plays one camera live: asks in its turn, feeds hls.js, and starts again as `states.ts` says. */

import { type ReadonlySignal, type Signal, signal } from "@preact/signals";
import workerPath from "hls.js/dist/hls.worker.js?url";
import Hls, { type ErrorData, type HlsConfig } from "hls.js/light";
import { onWake } from "../api/sleepDetection";
import { prestartCamera } from "./cameraPrestart";
import { protocolOfPage, takeLowLatency, turns } from "./connectionTurns";
import { type Figures, Health } from "./health";
import { LatencyController } from "./liveLatency";
import { FIRST_FRACTION, shift } from "./playlistReloads";
import { begin, dueAt, type Event, type Phase, type State, step } from "./states";
import { keepFrame } from "./stillImage";

/** More pixels than any page has, for each attempt without a picture. */
const BEHIND = 1e6;
/** Seconds without a segment after which the stream is asked for anew, and after which an offline vehicle's has ended. */
const SILENT_SECONDS = 20;
const SILENT_OFFLINE_SECONDS = 5;
/** The server holds a first request for ten seconds. */
const PATIENCE_MS = 20_000;
const CATCH_UP_RATE = 1.1;
/** How long it is shown that seconds were left out. */
const SKIPPED_SHOWN_MS = 4000;
const CODEC_ERRORS: readonly string[] = [
  Hls.ErrorDetails.MANIFEST_INCOMPATIBLE_CODECS_ERROR,
  Hls.ErrorDetails.BUFFER_ADD_CODEC_ERROR,
  Hls.ErrorDetails.BUFFER_INCOMPATIBLE_CODECS_ERROR,
];
const NO_FIGURES: Figures = { rate: null, short: 0, dropped: 0 };
/** Events of a player that are kept for a report. */
const EVENTS_KEPT = 20;

const playing = signal(0);
/** Pictures that play on the page. */
export const pictures: ReadonlySignal<number> = playing;

/** What is known of a picture that plays. */
export interface Details {
  /** Seconds behind the newest media. */
  latency: number;
  width: number;
  height: number;
  framesPerSecond: number;
  kilobits: number;
  dropped: number;
  /** Seconds that can play without more media. */
  buffer: number;
  events: readonly string[];
}

export class LivePlayer {
  readonly state: Signal<State>;
  readonly figures = signal<Figures>(NO_FIGURES);
  /** Seconds that were just left out. */
  readonly skipped = signal(0);
  private health = new Health();
  private pace = new LatencyController();
  private hls: Hls | null = null;
  private native = false;
  private endTurn = () => {};
  private endLowLatency = () => {};
  private request: AbortController | null = null;
  private retry = 0;
  private beat = 0;
  private skippedTimer = 0;
  private lastSegment = 0;
  private kilobits = 0;
  private frames = { at: 0, count: 0, rate: 0 };
  private readonly events: string[] = [];
  private readonly listeners = new AbortController();
  private readonly endWake = onWake(() => this.woke());

  /** `distance`: pixels from the middle of the screen, by which turns are given. */
  constructor(
    private readonly url: string,
    private readonly video: HTMLVideoElement,
    online: boolean,
    private readonly distance: () => number,
  ) {
    this.state = signal(begin(online));
    const { signal: ended } = this.listeners;
    const on = (name: string, handler: () => void) =>
      video.addEventListener(name, handler, { signal: ended });
    on("playing", () => {
      this.health.waits(false, seconds());
      this.dispatch({ type: "picture" });
    });
    on("waiting", () => {
      this.health.waits(true, seconds());
      if (!video.seeking && this.state.peek().phase.name === "playing") this.pace.waited();
    });
    on("ended", () => this.dispatch({ type: "ended" }));
    on("error", () => {
      if (this.native) this.dispatch({ type: "broken", restarted: false });
    });
    this.beat = window.setInterval(() => this.measure(), 1000);
    this.enter(this.state.peek().phase);
  }

  setOnline(online: boolean): void {
    this.dispatch({ type: "online", online });
  }

  /** Try again at once. */
  again(): void {
    this.dispatch({ type: "due" });
  }

  details(): Details {
    const { video, hls } = this;
    return {
      latency: hls?.latency ?? 0,
      width: video.videoWidth,
      height: video.videoHeight,
      framesPerSecond: this.frames.rate,
      kilobits: this.kilobits,
      dropped: video.getVideoPlaybackQuality().droppedVideoFrames,
      buffer: ahead(video),
      events: [...this.events],
    };
  }

  destroy(): void {
    this.listeners.abort();
    this.endWake();
    clearInterval(this.beat);
    clearTimeout(this.skippedTimer);
    this.leave();
    this.endTurn();
    this.stop();
    if (this.state.peek().phase.name === "playing") playing.value -= 1;
  }

  private dispatch(event: Event): void {
    if (this.listeners.signal.aborted) return;
    const before = this.state.peek();
    const after = step(before, event, Date.now());
    if (after === before) return;
    this.state.value = after;
    if (after.phase === before.phase) return;
    this.log(event.type);
    playing.value += Number(after.phase.name === "playing") - Number(before.phase.name === "playing");
    this.leave();
    this.enter(after.phase);
  }

  /** End what belongs to the phase that is left. */
  private leave(): void {
    clearTimeout(this.retry);
    this.request?.abort();
    this.request = null;
  }

  private enter(phase: Phase): void {
    if (phase.name !== "asking" && phase.name !== "starting") this.endTurn();
    if (phase.name !== "starting" && phase.name !== "playing") this.stop();
    if (phase.name === "queued") {
      // Those that were asked in vain come after those that were not asked yet, however near they are.
      const { attempts } = this.state.peek();
      this.endTurn = turns.take(
        () => this.distance() + attempts * BEHIND,
        () => this.dispatch({ type: "turn" }),
      );
      prestartCamera(this.url, () => this.waitsForTurn());
    } else if (phase.name === "asking") void this.ask();
    else if (phase.name === "starting") this.load();
    const due = dueAt(this.state.peek());
    if (due !== null) {
      this.retry = window.setTimeout(() => this.dispatch({ type: "due" }), Math.max(0, due - Date.now()));
    }
  }

  /** The computer was asleep: the stream went on without this reader, or ended. */
  private woke(): void {
    const { name } = this.state.peek().phase;
    if (name === "playing" || name === "starting") this.dispatch({ type: "ended" });
  }

  private waitsForTurn(): boolean {
    const { phase, online } = this.state.peek();
    return phase.name === "queued" && online && !this.listeners.signal.aborted;
  }

  /** Read the playlist, which starts the camera; hls.js begins once something is in it. */
  private async ask(): Promise<void> {
    const request = new AbortController();
    this.request = request;
    const timer = setTimeout(() => request.abort("late"), PATIENCE_MS);
    try {
      const answer = await fetch(this.url, { cache: "no-store", signal: request.signal });
      const text = await answer.text();
      if (!answer.ok) this.dispatch({ type: "refused", status: answer.status, text: text.slice(0, 300) });
      else if (/^#EXT(INF|-X-PART):/m.test(text)) this.dispatch({ type: "listed" });
      else this.dispatch({ type: "nothingListed" });
    } catch {
      const left = this.request !== request;
      if (!left) this.dispatch({ type: "refused", status: 0, text: "" });
    } finally {
      clearTimeout(timer);
    }
  }

  private load(): void {
    this.health = new Health();
    this.pace = new LatencyController();
    this.figures.value = NO_FIGURES;
    this.lastSegment = seconds();
    if (!Hls.isSupported()) {
      this.loadNatively();
      return;
    }
    const low = takeLowLatency(protocolOfPage());
    this.endLowLatency = low ?? (() => {});
    const hls = new Hls(settings(low !== null));
    this.hls = hls;
    let hasParts = false;
    hls.on(Hls.Events.MANIFEST_PARSED, (_, { levels }) => {
      const details = levels[0]?.details;
      // Where the playlist lists parts, it says itself how far from its end to play.
      const nearest = low ? details?.partHoldBack : 0;
      hasParts = Boolean(nearest);
      if (nearest) {
        hls.targetLatency = nearest;
        hls.config.maxLiveSyncPlaybackRate = CATCH_UP_RATE;
      } else if (details) {
        details.requestScheduled = performance.now() + details.targetduration * FIRST_FRACTION * 1000;
      }
    });
    hls.on(Hls.Events.LEVEL_LOADED, (_, { details, stats: { loading } }) => {
      // The next request is planned already: this is counted from for the one after it.
      if (!hasParts)
        details.requestScheduled += 1000 * shift((loading.first - loading.start) / 1000, details.updated);
    });
    hls.on(Hls.Events.FRAG_BUFFERED, (_, { frag, part, stats }) => {
      const media = part?.duration ?? frag.duration;
      this.lastSegment = seconds();
      this.health.buffered(media, this.lastSegment);
      if (media > 0) this.kilobits = Math.round((stats.total * 8) / 1000 / media);
      // From now on it needs no answer that is held.
      this.endTurn();
      // A browser may refuse the first attempt.
      if (this.video.paused && this.state.peek().phase.name === "starting") {
        void this.video.play().catch(() => {});
      } else if (!hasParts && frag.sn === hls.latestLevelDetails?.endSN) {
        this.advance(frag.duration);
      }
    });
    hls.on(Hls.Events.ERROR, (_, problem) => this.failed(hls, problem));
    hls.loadSource(this.url);
    hls.attachMedia(this.video);
  }

  /** The newest segment was buffered: play no further behind the camera than the line demands. */
  private advance(length: number): void {
    const { video } = this;
    if (this.state.peek().phase.name !== "playing" || video.seeking) return;
    const { jump, rate } = this.pace.arrived(Math.max(0, ahead(video) - length), length);
    if (jump > 0) video.currentTime += jump;
    video.playbackRate = rate;
  }

  private loadNatively(): void {
    if (!this.video.canPlayType("application/vnd.apple.mpegurl")) {
      this.dispatch({ type: "codec" });
      return;
    }
    this.native = true;
    this.video.src = this.url;
    void this.video.play().catch(() => {});
  }

  private failed(hls: Hls, problem: ErrorData): void {
    this.log(`${problem.details}${problem.fatal ? " fatal" : ""}`);
    const status = problem.response?.code ?? 0;
    if (CODEC_ERRORS.includes(problem.details)) this.dispatch({ type: "codec" });
    else if (problem.details === Hls.ErrorDetails.FRAG_LOAD_ERROR && status === 404) this.jump(hls);
    else if (!problem.fatal) return;
    else if (problem.type === Hls.ErrorTypes.NETWORK_ERROR)
      this.dispatch({ type: "refused", status, text: "" });
    else if (!this.state.peek().recovered) {
      this.dispatch({ type: "broken", restarted: true });
      hls.recoverMediaError();
    } else this.dispatch({ type: "broken", restarted: false });
  }

  /** What was to play next has left the playlist: go to its newest part. */
  private jump(hls: Hls): void {
    const edge = hls.liveSyncPosition;
    const left = edge === null ? 0 : edge - this.video.currentTime;
    if (edge === null || left < 1) return;
    this.video.currentTime = edge;
    this.skipped.value = Math.round(left);
    clearTimeout(this.skippedTimer);
    this.skippedTimer = window.setTimeout(() => {
      this.skipped.value = 0;
    }, SKIPPED_SHOWN_MS);
  }

  /** End what plays; a turn to ask is not over by that. */
  private stop(): void {
    this.endLowLatency();
    this.endLowLatency = () => {};
    if (this.hls) keepFrame(this.video);
    this.hls?.destroy();
    this.hls = null;
    if (this.native) {
      this.native = false;
      this.video.removeAttribute("src");
      this.video.load();
    }
  }

  private measure(): void {
    if (this.state.peek().phase.name !== "playing") return;
    const now = seconds();
    const { totalVideoFrames, droppedVideoFrames } = this.video.getVideoPlaybackQuality();
    const shown = totalVideoFrames - droppedVideoFrames;
    this.health.counted(shown, droppedVideoFrames, now);
    this.frames = {
      at: now,
      count: shown,
      rate: Math.max(0, Math.round((shown - this.frames.count) / Math.max(0.5, now - this.frames.at))),
    };
    this.figures.value = this.health.figures(now);
    const patience = this.state.peek().online ? SILENT_SECONDS : SILENT_OFFLINE_SECONDS;
    if (!this.native && now - this.lastSegment > patience) this.dispatch({ type: "ended" });
  }

  private log(event: string): void {
    this.events.push(`${new Date().toISOString()} ${event}`);
    if (this.events.length > EVENTS_KEPT) this.events.shift();
  }
}

function settings(lowLatencyMode: boolean): Partial<HlsConfig> {
  return {
    lowLatencyMode,
    workerPath,
    maxBufferLength: 10,
    backBufferLength: 10,
    // Media for the time until the next segment comes, and some to spare.
    liveSyncDurationCount: 1.25,
    liveMaxLatencyDurationCount: 6,
  };
}

/** Seconds that can play without more media. */
function ahead(video: HTMLVideoElement): number {
  const { buffered, currentTime } = video;
  const end = buffered.length > 0 ? buffered.end(buffered.length - 1) : 0;
  return Math.max(0, end - currentTime);
}

function seconds(): number {
  return performance.now() / 1000;
}
