/** The film of a camera beside a cursor: what is fetched, what plays, and how both follow each other. */

import {
  batch,
  computed,
  effect,
  type ReadonlySignal,
  type Signal,
  signal,
  untracked,
} from "@preact/signals";
import { t } from "../../i18n/translate";
import { sentenceOf } from "../../parts/Problem";
import { toast } from "../../parts/Toast";
import type { Cursor } from "../../time/cursor";
import type { Span } from "../../time/spans";
import { cameraNumber } from "../cameraNames";
import { clockNow, spanOfCamera, spanShown } from "./clock";
import { fetchSpan } from "./fetch";
import { type Act, FREE, type Happening, leads, type Mastery, next } from "./mastery";
import { PlaybackControls } from "./playbackControls";
import { catchUp, FASTEST, FASTEST_SENT } from "./playbackRate";
import { RecordedPlayer, type Source } from "./player";

/** The hand rests so long before a playback is moved. */
const REST_MS = 400;
/** A pause of this length pauses the vehicle as well. */
const PAUSE_MS = 30_000;
/** An instant that differs by less is where the picture is. */
const SAME_MS = 40;

export interface Asked {
  /** The first is shown with the clock; the others were asked at once with it. */
  cameras: readonly number[];
  /** As it is shown. */
  span: Span;
  /** When, in milliseconds since 1970. */
  at: number;
}

let made = 0;

export class Film {
  /** Another one for each. */
  readonly id = ++made;
  /** What plays, or null. */
  readonly source: Signal<Source | null> = signal(null);
  /** The player, while there is a source and an element to draw on. */
  readonly player: Signal<RecordedPlayer | null> = signal(null);
  /** What was asked of the vehicle last. */
  readonly asked: Signal<Asked | null> = signal(null);
  /** A request is on its way to the vehicle. */
  readonly asking = signal(false);
  readonly problem: Signal<unknown> = signal(null);
  /** Whether what is fetched next is kept as a file. */
  readonly keep = signal(true);
  /** Whether the server fetches the same of the other cameras afterwards. */
  readonly others = signal(false);
  /** How many times as fast as it was recorded the vehicle sends it; above 1 it has no sound. */
  readonly sent = signal(1);
  /** Who moves the cursor. */
  private readonly mastery: Signal<Mastery> = signal(FREE);
  /** Where the playback is being moved to, in milliseconds since 1970. */
  readonly moving: ReadonlySignal<number | null> = computed(() => {
    const mastery = this.mastery.value;
    return mastery.name === "moving" ? mastery.to : null;
  });
  /** The cursor is where the film has nothing. */
  readonly away: ReadonlySignal<boolean> = computed(() => this.mastery.value.name === "away");
  private shown = Number.NaN;
  private rest = 0;
  private pause = 0;
  private paused = false;
  private keeping = false;
  /** A hand took the cursor away from the film, and holds it still. */
  private leaving = false;
  private readonly controls: PlaybackControls;
  /** What is opened next was just fetched: that begins before the cursor, and what came first is shown. */
  private fresh = false;
  /** What is opened next does not begin to play. */
  private rests = false;
  private readonly ends: (() => void)[] = [];

  constructor(
    readonly deviceId: number,
    private readonly cursor: Cursor,
  ) {
    this.controls = new PlaybackControls(deviceId, () => this.asked.peek()?.cameras ?? []);
    this.ends.push(
      effect(() => this.followPicture()),
      effect(() => this.followCursor()),
      effect(() => this.followPlaying()),
      effect(() => this.followHand()),
      effect(() => this.followEnd()),
      effect(() => {
        this.cursor.led.value = this.drives();
      }),
      effect(() => this.followRate()),
      effect(() => this.followSent()),
    );
  }

  /**
   * Have the vehicle send a span of some cameras, and play the first of them from its start. `expected` is how many
   * bytes a camera will take, or null.
   */
  async fetch(
    [camera, ...others]: readonly [number, ...number[]],
    span: Span,
    expected: (camera: number) => number | null,
  ): Promise<void> {
    if (this.asking.peek()) return;
    batch(() => {
      this.asking.value = true;
      this.problem.value = null;
      this.close();
    });
    const clock = clockNow(this.deviceId, camera);
    const ask = (each: number) =>
      fetchSpan(this.deviceId, each, spanOfCamera(span, clockNow(this.deviceId, each)), {
        keep: this.keep.peek(),
        expected: expected(each),
      });
    try {
      this.keeping = (await ask(camera)) !== null;
      batch(() => {
        this.sent.value = 1;
        const sent = spanShown(spanOfCamera(span, clock), clock);
        this.asked.value = { cameras: [camera], span: sent, at: Date.now() };
        this.fresh = true;
        this.open({ kind: "playback", deviceId: this.deviceId, camera });
      });
      for (const each of others) {
        try {
          await ask(each);
          const asked = this.asked.peek();
          if (asked) this.asked.value = { ...asked, cameras: [...asked.cameras, each] };
        } catch (problem) {
          toast(
            t("film.refusedCamera", {
              camera: cameraNumber(this.deviceId, each),
              reason: sentenceOf(problem),
            }),
            "bad",
          );
        }
      }
    } catch (problem) {
      this.problem.value = problem;
    } finally {
      this.asking.value = false;
    }
  }

  /** Play what has arrived of a playback that is there. */
  watch(camera: number): void {
    this.play({ kind: "playback", deviceId: this.deviceId, camera });
  }

  /** Play something else, from the cursor on where it has that. */
  play(source: Source): void {
    this.rests = false;
    this.open(source);
  }

  /** Show what another player shows, from the same instant; a pause stays one. */
  take(source: Source): void {
    this.rests = !this.cursor.playing.peek();
    this.open(source);
  }

  /** Play nothing any more. What the vehicle still sends goes on, for its capture and other viewers. */
  close(): void {
    clearTimeout(this.rest);
    clearTimeout(this.pause);
    batch(() => {
      this.happen({ name: "closed" });
      this.sent.value = 1;
      this.source.value = null;
    });
  }

  /** Draw on an element while there is a source. Returns what ends it. */
  attach(video: HTMLVideoElement, source: Source): () => void {
    const at = this.cursor.at.peek();
    const player = new RecordedPlayer(source, video, this.fresh ? null : at, this.cursor.rate.peek());
    const plays = !this.rests;
    this.fresh = this.rests = false;
    this.shown = at;
    batch(() => {
      this.player.value = player;
      this.cursor.playing.value = plays;
    });
    return () => {
      if (this.player.peek() === player) this.player.value = null;
      player.destroy();
    };
  }

  destroy(): void {
    this.close();
    for (const end of this.ends) end();
    this.cursor.led.value = false;
  }

  /** Let something change who moves the cursor; returns what is to be done. */
  private happen(happening: Happening): Act {
    const { mastery, act } = next(this.mastery.peek(), happening);
    this.mastery.value = mastery;
    return act;
  }

  /** Whether the picture moves the cursor. */
  private drives(): boolean {
    const player = this.player.value;
    if (!player || !leads(this.mastery.value)) return false;
    const { name } = player.phase.value;
    return name === "playing" || name === "waiting" || name === "paused";
  }

  private open(source: Source): void {
    clearTimeout(this.rest);
    batch(() => {
      this.problem.value = null;
      this.happen({ name: "opened" });
      this.source.value = source;
    });
  }

  private followPicture(): void {
    const at = this.player.value?.at.value ?? null;
    if (at === null) return;
    untracked(() => {
      const waits = this.mastery.peek().name === "moving";
      if (this.happen({ name: "picture", at, held: this.cursor.held.peek() }) !== "show") return;
      this.shown = at;
      this.cursor.at.value = at;
      if (waits && this.plays()) this.player.peek()?.play();
    });
  }

  /** The cursor was moved by something else than the picture. */
  private followCursor(): void {
    const at = this.cursor.at.value;
    const player = this.player.value;
    if (!player || Math.abs(at - this.shown) < SAME_MS) return;
    untracked(() => {
      this.shown = at;
      clearTimeout(this.rest);
      const film = player.seek(at) ? "has" : this.covers(at) ? "asked" : "nothing";
      const act = this.happen({ name: "placed", at, film });
      if (act === "goOn") {
        if (this.plays()) player.play();
        return;
      }
      // Elsewhere the picture that is there rests.
      player.pause();
      if (act === "wait") this.rest = window.setTimeout(() => void this.move(at), REST_MS);
      if (act === "leave") this.leave();
    });
  }

  /** The film does not go on where it was: it rests, once the hand has let go. */
  private leave(): void {
    this.leaving = this.cursor.held.peek();
    if (!this.leaving) this.cursor.playing.value = false;
  }

  private followHand(): void {
    if (this.cursor.held.value || !this.leaving) return;
    this.leaving = false;
    if (this.mastery.peek().name === "away") this.cursor.playing.value = false;
  }

  /** Whether the film is to play: not while a hand holds the cursor. */
  private plays(): boolean {
    return this.cursor.playing.value && !this.cursor.held.value;
  }

  /** Whether the vehicle was asked for an instant by the playback that is shown. */
  private covers(at: number): boolean {
    const asked = this.asked.peek();
    const source = this.source.peek();
    if (!asked || source?.kind !== "playback" || !asked.cameras.includes(source.camera)) return false;
    return at >= asked.span.from && at < asked.span.to;
  }

  /** Have the vehicle go on from elsewhere in the span that was asked for. */
  private async move(at: number): Promise<void> {
    const asked = this.asked.peek();
    if (!asked || !this.covers(at)) return;
    this.happen({ name: "rested" });
    this.player.peek()?.expect(at);
    try {
      await this.controls.steer("seek", { time: at });
    } catch (problem) {
      batch(() => {
        if (this.happen({ name: "refused" }) === "leave") this.leave();
        this.problem.value = problem;
      });
    }
  }

  private followPlaying(): void {
    const plays = this.plays();
    const player = this.player.value;
    clearTimeout(this.pause);
    if (!player) return;
    untracked(() => {
      if (this.mastery.peek().name !== "film") return;
      if (plays) {
        player.play();
        if (this.paused) void this.controls.pace(this.sent.peek()).catch(() => {});
        this.paused = false;
      } else {
        player.rest();
        this.pause = window.setTimeout(() => void this.pauseVehicle(), PAUSE_MS);
      }
    });
  }

  private followRate(): void {
    const rate = this.cursor.rate.value;
    const player = this.player.value;
    if (!player) return;
    const led = this.cursor.led.value;
    const growing = player.growing.value;
    untracked(() => {
      const fastest = growing && this.canForward() ? FASTEST_SENT : FASTEST;
      if (led && rate > fastest) {
        if (fastest === FASTEST && this.sent.peek() === 1) toast(t("film.fastest"));
        this.cursor.rate.value = fastest;
        return;
      }
      const sent = rate > FASTEST && led ? rate : 1;
      if (sent === 1) player.setRate(Math.min(FASTEST, rate));
      // Once all has arrived, there is nothing to send otherwise.
      if (!growing) this.sent.value = 1;
      else if (sent !== this.sent.peek()) void this.send(sent);
    });
  }

  /** Whether the vehicle can be asked to send faster: while it sends what was asked here, and nothing is kept of it. */
  private canForward(): boolean {
    return !this.keeping && this.covers(this.cursor.at.peek());
  }

  /** Have the vehicle send as fast as that. */
  private async send(sent: number): Promise<void> {
    const before = this.sent.peek();
    this.sent.value = sent;
    try {
      await this.controls.pace(sent);
    } catch (problem) {
      batch(() => {
        this.sent.value = before;
        this.problem.value = problem;
        this.cursor.rate.value = Math.min(FASTEST, this.cursor.rate.peek());
      });
    }
  }

  /** While the vehicle sends faster, play as fast as that arrives. */
  private followSent(): void {
    const sent = this.sent.value;
    const player = this.player.value;
    if (sent === 1 || !player) return;
    // With each picture.
    player.at.value;
    player.setRate(catchUp(player.ahead(), sent));
  }

  /** The film does not begin again by itself. */
  private followEnd(): void {
    const player = this.player.value;
    if (player?.phase.value.name !== "ended") return;
    untracked(() => {
      this.happen({ name: "ended" });
      if (player.arrived.peek().length > 0) this.cursor.playing.value = false;
    });
  }

  /** Nobody waits for the rest, unless it is being kept. */
  private async pauseVehicle(): Promise<void> {
    if (this.keeping || !this.asked.peek() || this.source.peek()?.kind !== "playback") return;
    this.paused = true;
    await this.controls.steer("pause").catch(() => {});
  }
}
