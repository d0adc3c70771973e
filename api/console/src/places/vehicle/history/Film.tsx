import type { Signal } from "@preact/signals";
import { go, location, withQuery } from "../../../router";
import type { Cursor } from "../../../time/cursor";
import type { Span } from "../../../time/spans";
import type { Lane } from "../../../timeline/lanes";
import { RecordedFilm } from "../../../video/recorded/RecordedFilm";

interface FilmProps {
  deviceId: number;
  cursor: Cursor;
  /** Filled with the lanes of the cameras. */
  lanes: Signal<readonly Lane[]>;
  /** A span that was drawn on a lane of a camera. */
  marked?: Signal<{ lane: string; span: Span } | null>;
}

/** The film of a history; `?channel=2&channel=1` of the address are its cameras, the first with the clock. */
export function Film({ deviceId, cursor, lanes, marked }: FilmProps) {
  const { query } = location.value;
  return (
    <RecordedFilm
      deviceId={deviceId}
      cursor={cursor}
      lanes={lanes}
      marked={marked}
      shown={query.getAll("channel").map(Number)}
      onShown={(cameras) => {
        const next = new URLSearchParams(location.peek().query);
        next.delete("channel");
        for (const each of cameras) next.append("channel", String(each));
        go(withQuery(location.peek().path, next), { replace: true });
      }}
    />
  );
}
