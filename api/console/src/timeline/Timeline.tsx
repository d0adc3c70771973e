import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { clockSeconds, dateTime } from "../format/times";
import { t } from "../i18n/translate";
import { onTheme } from "../map/colors";
import { Icon } from "../parts/Icon";
import { style } from "../state/session";
import type { Cursor } from "../time/cursor";
import type { Span } from "../time/spans";
import { type Gestures, listen } from "./gestures";
import type { Block, Lane } from "./lanes";
import { LANE_PX, paint } from "./paint";
import { atOf, moved, revealing, SHORTEST_MS, xOf, zoomed } from "./scale";
import "./timeline.css";
import { tonesNow } from "./tones";

interface TimelineProps {
  lanes: readonly Lane[];
  cursor: Cursor;
  /** What can be shown at most. */
  limit: Span;
  /** A span was marked by a drag over a lane. */
  onSpan?: (lane: string, span: Span) => void;
  /** Whether a drag over the lane marks a span; over others it moves the time. */
  marks?: (lane: string) => boolean;
  /** Drawn above the lanes, on the same scale. */
  children?: ComponentChildren;
}

/** Pixels by which a press may miss a block. */
const SLACK_PX = 5;
/** Blocks of a lane that are read out. */
const MOST_READ = 100;
const ZOOM_STEP = 2;

/** Lanes over time with the cursor: zoom by wheel, pinch, + and −, from all to a minute. */
export function Timeline({ lanes, cursor, limit, onSpan, marks, children }: TimelineProps) {
  const plot = useRef<HTMLDivElement>(null);
  const lanesBox = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [theme, setTheme] = useState(0);
  const mark = useSignal<Span | null>(null);
  const span = cursor.span.value;

  useEffect(() => onTheme(() => setTheme((count) => count + 1)), []);
  useEffect(() => {
    const element = plot.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current) paint(canvas.current, { lanes, span, width, style: style.value, color: tonesNow() });
  }, [lanes, span, width, style.value, theme]);

  const laneAt = (y: number): Lane | undefined => {
    return lanes[Math.floor((y - (lanesBox.current?.offsetTop ?? 0)) / LANE_PX)];
  };
  const gestures = useRef<Gestures>(null as unknown as Gestures);
  gestures.current = {
    zoom: (x, factor) => {
      cursor.span.value = zoomed(span, atOf(x, span, width), factor, limit);
    },
    move: (pixels) => {
      const shown = cursor.span.peek();
      cursor.span.value = moved(shown, (-pixels * (shown.to - shown.from)) / Math.max(1, width), limit);
    },
    press: (x, y) => {
      const lane = laneAt(y);
      const block = lane && blockAt(lane, x, span, width);
      const at = block && block.from === block.to ? block.from : atOf(x, span, width);
      cursor.at.value = Math.min(Math.max(at, limit.from), limit.to);
      block?.act?.();
    },
    hold: (x) => {
      cursor.held.value = x !== null;
      if (x === null) return;
      const at = atOf(x, cursor.span.peek(), width);
      cursor.at.value = Math.min(Math.max(at, limit.from), limit.to);
      cursor.span.value = revealing(cursor.span.peek(), cursor.at.peek(), limit);
    },
    marks: (_, y) => {
      const lane = laneAt(y);
      return lane !== undefined && Boolean(onSpan) && (marks?.(lane.id) ?? false);
    },
    mark: (ends, done) => {
      const [one, other] = ends ? [atOf(ends.from, span, width), atOf(ends.to, span, width)] : [0, 0];
      const drawn = ends && { from: Math.min(one, other), to: Math.max(one, other) };
      mark.value = done ? null : drawn;
      const lane = ends && laneAt(ends.y);
      if (done && drawn && lane) onSpan?.(lane.id, drawn);
    },
  };
  useEffect(() => {
    const end = plot.current ? listen(plot.current, () => gestures.current) : () => {};
    return () => {
      end();
      cursor.held.value = false;
    };
  }, [cursor]);

  // What plays does not leave the view.
  useSignalEffect(() => {
    const at = cursor.at.value;
    const shown = cursor.span.peek();
    if (!cursor.playing.value || (at >= shown.from && at <= shown.to)) return;
    cursor.span.value = moved(shown, at - shown.from - (shown.to - shown.from) * 0.1, limit);
  });

  const zoomBy = (factor: number) => {
    const at = cursor.at.peek();
    const middle = at >= span.from && at <= span.to ? at : (span.from + span.to) / 2;
    cursor.span.value = zoomed(span, middle, factor, limit);
  };
  const length = span.to - span.from;
  return (
    <section class="timeline" aria-label={t("timeline.title")}>
      <div class="timeline-zoom">
        <Zoom
          icon="plus"
          label={t("map.zoomIn")}
          act={() => zoomBy(1 / ZOOM_STEP)}
          off={length <= SHORTEST_MS}
        />
        <Zoom
          icon="minus"
          label={t("map.zoomOut")}
          act={() => zoomBy(ZOOM_STEP)}
          off={length >= limit.to - limit.from}
        />
      </div>
      <div class="timeline-labels" aria-hidden="true">
        {lanes.map((lane) => (
          <span key={lane.id} title={lane.label} style={{ height: `${LANE_PX}px` }}>
            {lane.label}
          </span>
        ))}
      </div>
      <div
        class="timeline-plot"
        ref={plot}
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const [x, y] = [event.clientX - box.left, event.clientY - box.top];
          const lane = laneAt(y);
          const block = lane && blockAt(lane, x, span, width);
          const time = clockSeconds(atOf(x, span, width), style.value);
          event.currentTarget.title = block ? `${block.label} · ${time}` : time;
        }}
      >
        {children}
        <div ref={lanesBox} aria-hidden="true">
          <canvas ref={canvas} />
        </div>
        <Mark mark={mark} span={span} />
        <At cursor={cursor} limit={limit} />
      </div>
      <Spoken lanes={lanes} />
    </section>
  );
}

function Zoom({
  icon,
  label,
  act,
  off,
}: {
  icon: "plus" | "minus";
  label: string;
  act: () => void;
  off: boolean;
}) {
  return (
    <button
      type="button"
      class="icon-button small"
      aria-label={label}
      title={label}
      disabled={off}
      onClick={act}
    >
      <Icon name={icon} size={16} />
    </button>
  );
}

/** Milliseconds by which a key moves the cursor. */
const KEYS: Partial<Record<string, number>> = {
  ArrowLeft: -5000,
  ArrowDown: -5000,
  ArrowRight: 5000,
  ArrowUp: 5000,
  PageDown: -600_000,
  PageUp: 600_000,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};
/** With Shift an arrow moves it by so many times as much. */
const SHIFT = 12;

/** The line of the cursor, which is dragged by its knob; arrows and the keys of the player move it too. */
function At({ cursor, limit }: { cursor: Cursor; limit: Span }) {
  function press(event: KeyboardEvent) {
    const by = KEYS[event.key];
    if (by === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    // Not the page, and not the keys of the player, which can be switched off.
    event.preventDefault();
    const at = cursor.at.peek() + by * (event.shiftKey ? SHIFT : 1);
    cursor.at.value = Math.min(Math.max(at, limit.from), limit.to);
    cursor.span.value = revealing(cursor.span.peek(), cursor.at.peek(), limit);
  }
  const left = useComputed(() => `${xOf(cursor.at.value, cursor.span.value, 100)}%`);
  const at = cursor.at.value;
  const { from, to } = cursor.span.value;
  return (
    <div
      class={
        at < from || at > to ? "timeline-at away" : cursor.held.value ? "timeline-at held" : "timeline-at"
      }
      style={{ left: left.value }}
      role="slider"
      tabIndex={0}
      aria-label={t("timeline.at")}
      aria-valuemin={Math.round(limit.from / 1000)}
      aria-valuemax={Math.round(limit.to / 1000)}
      aria-valuenow={Math.round(at / 1000)}
      aria-valuetext={dateTime(at, style.value)}
      onKeyDown={press}
    />
  );
}

function Mark({ mark, span }: { mark: { value: Span | null }; span: Span }) {
  const drawn = mark.value;
  if (!drawn) return null;
  const left = xOf(drawn.from, span, 100);
  return (
    <div class="timeline-mark" style={{ left: `${left}%`, width: `${xOf(drawn.to, span, 100) - left}%` }} />
  );
}

/** The lanes as lists, for screen readers. */
function Spoken({ lanes }: { lanes: readonly Lane[] }) {
  return (
    <div class="hidden">
      {lanes.map((lane) => (
        <section key={lane.id} aria-label={lane.label}>
          <ul>
            {lane.blocks.slice(0, MOST_READ).map((block, index) => (
              <li key={`${block.from} ${index}`}>
                {block.label}, {dateTime(block.from, style.value)}
                {block.to > block.from && ` – ${dateTime(block.to, style.value)}`}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

/** The block under the pointer; of several the shortest. */
function blockAt(lane: Lane, x: number, span: Span, width: number): Block | undefined {
  const slack = (SLACK_PX * (span.to - span.from)) / Math.max(1, width);
  const at = atOf(x, span, width);
  return lane.blocks
    .filter((block) => block.from - slack <= at && block.to + slack >= at)
    .sort((one, other) => one.to - one.from - (other.to - other.from))[0];
}
