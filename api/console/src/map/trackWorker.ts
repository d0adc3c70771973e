/** The page's side of track.worker.ts. */

import { Problem } from "../api/call";
import type { Box } from "./clusters";
import type { Track } from "./track";

export type Asked = { kind: "load"; url: string } | { kind: "thin"; order: number; zoom: number; box: Box };
export type Answer =
  | { kind: "track"; track: Track }
  | { kind: "refused"; status: number; text: string; retryAfter: number | null }
  | { kind: "tooMuch" }
  | { kind: "thinned"; order: number; indexes: readonly number[] };

/** The span has more positions than a page can draw. */
export class TooMuch extends Error {}

/** One track: read once, thinned as often as the map is moved. */
export class TrackWorker {
  readonly #worker = new Worker(new URL("./track.worker.ts", import.meta.url), { type: "module" });
  #order = 0;
  #thinned: (indexes: readonly number[]) => void = () => {};

  /** Read the positions at an address. Throws a `Problem`, or `TooMuch`. */
  load(url: string): Promise<Track> {
    return new Promise((resolve, reject) => {
      this.#worker.onerror = () => reject(new Problem(0, ""));
      this.#worker.onmessage = ({ data }: MessageEvent<Answer>) => {
        if (data.kind === "track") resolve(data.track);
        else if (data.kind === "refused") reject(new Problem(data.status, data.text, data.retryAfter));
        else if (data.kind === "tooMuch") reject(new TooMuch());
        else if (data.order === this.#order) this.#thinned(data.indexes);
      };
      this.#post({ kind: "load", url });
    });
  }

  /** Have the fixes for a part of the map; only the answer to the newest question is given. */
  thin(zoom: number, box: Box, thinned: (indexes: readonly number[]) => void): void {
    this.#order += 1;
    this.#thinned = thinned;
    this.#post({ kind: "thin", order: this.#order, zoom, box });
  }

  close(): void {
    this.#worker.terminate();
  }

  #post(asked: Asked): void {
    this.#worker.postMessage(asked);
  }
}
