/** Reads positions and thins long tracks, away from the page: parsing a week of them takes a second. */

import { MOST_FIXES, thin } from "./thin";
import { type Track, trackOf } from "./track";
import type { Answer, Asked } from "./trackWorker";

/** A page has no use for more. */
const MOST_BYTES = 128e6;

let track: Track | null = null;

self.onmessage = ({ data }: MessageEvent<Asked>) => {
  if (data.kind === "load") void load(data.url);
  else if (track) send({ kind: "thinned", order: data.order, indexes: thin(track, data.zoom, data.box) });
};

async function load(url: string): Promise<void> {
  try {
    const answer = await fetch(url, { credentials: "same-origin", cache: "no-store" });
    if (!answer.ok) {
      const wait = Number(answer.headers.get("Retry-After"));
      const text = (await answer.text()).slice(0, 500);
      send({ kind: "refused", status: answer.status, text, retryAfter: wait > 0 ? wait : null });
      return;
    }
    const text = await textOf(answer);
    if (text === null) send({ kind: "tooMuch" });
    else {
      track = trackOf(JSON.parse(text));
      send({ kind: "track", track });
      if (track.at.length <= MOST_FIXES) track = null;
    }
  } catch {
    send({ kind: "refused", status: 0, text: "", retryAfter: null });
  }
}

/** The body of an answer, or null if it is too long. */
async function textOf(answer: Response): Promise<string | null> {
  const reader = answer.body?.getReader();
  if (!reader) return answer.text();
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return pieces.join("") + decoder.decode();
    bytes += value.length;
    if (bytes > MOST_BYTES) {
      await reader.cancel();
      return null;
    }
    pieces.push(decoder.decode(value, { stream: true }));
  }
}

function send(answer: Answer): void {
  self.postMessage(answer);
}
