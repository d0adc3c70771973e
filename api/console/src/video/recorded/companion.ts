/** Another camera beside the one that has the clock: it plays while that one does, and stays in step with it. */

import { effect, type Signal, signal, untracked } from "@preact/signals";
import type { Cursor } from "../../time/cursor";
import type { Film } from "./film";
import { inStep } from "./playbackRate";
import { RecordedPlayer, type Source } from "./player";

export class Companion {
  readonly player: RecordedPlayer;
  /** The cursor is where this camera has nothing; it rests until there is something. */
  readonly away: Signal<boolean> = signal(false);
  private readonly ends: (() => void)[];

  constructor(
    source: Source,
    video: HTMLVideoElement,
    private readonly film: Film,
    private readonly cursor: Cursor,
  ) {
    this.player = new RecordedPlayer(source, video, cursor.at.peek());
    this.ends = [effect(() => this.followPlaying()), effect(() => this.followCursor())];
  }

  destroy(): void {
    for (const end of this.ends) end();
    this.player.destroy();
  }

  /** Whether the camera with the clock moves: a picture that waits stops the others too. */
  private moves(): boolean {
    return this.cursor.playing.value && this.film.player.value?.phase.value.name === "playing";
  }

  private followPlaying(): void {
    const plays = this.moves() && !this.away.value;
    untracked(() => {
      if (this.player.phase.peek().name === "ended") return;
      if (plays) this.player.play();
      else this.player.pause();
    });
  }

  private followCursor(): void {
    const at = this.cursor.at.value;
    const plays = this.moves();
    const rate = this.film.player.value?.pace ?? 1;
    // What arrives may be what is waited for.
    this.player.arrived.value;
    const ready = this.player.ready.value;
    untracked(() => {
      if (!ready) {
        this.player.expect(at);
        return;
      }
      const now = this.player.now();
      const next = now === null || this.away.peek() ? "seek" : inStep(now - at, rate, plays);
      if (next === "seek") this.away.value = !this.player.seek(at);
      else if (next !== this.player.pace) this.player.setRate(next);
    });
  }
}
