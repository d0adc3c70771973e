import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { number, speedIn, speedSign } from "../format/units";
import { t } from "../i18n/translate";
import { onTheme } from "../map/colors";
import type { Track } from "../map/track";
import { style } from "../state/session";
import type { Cursor } from "../time/cursor";
import { tonesNow } from "../timeline/tones";
import type { SeriesGraph } from "./series";
import { speedSeries } from "./speeds";
import "./graph.css";

const HEIGHT_PX = 110;

/** Speed over time, on the scale of the timeline around it. */
export function SpeedGraph({ track, cursor }: { track: Track; cursor: Cursor }) {
  const box = useRef<HTMLDivElement>(null);
  const graph = useRef<SeriesGraph | null>(null);
  const [theme, setTheme] = useState(0);
  const look = style.value;
  const series = useMemo(() => speedSeries(track, (knots) => speedIn(knots, look)), [track, look]);
  const span = cursor.span.value;
  useEffect(() => onTheme(() => setTheme((count) => count + 1)), []);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let gone = false;
    const gutter = -Number.parseFloat(getComputedStyle(element.parentElement ?? element).marginLeft);
    import("./series").then(
      (module) => {
        if (gone) return;
        const color = tonesNow();
        const { fontFamily } = getComputedStyle(document.documentElement);
        graph.current = new module.SeriesGraph(
          element,
          series,
          {
            line: color("accent"),
            grid: color("edge"),
            text: color("faint"),
            font: `13px ${fontFamily}`,
            gutter,
            label: (value) => number(value, 0, look),
          },
          element.clientWidth,
          HEIGHT_PX,
        );
        graph.current.show(cursor.span.peek());
      },
      // Without the graph the rest of the history remains.
      () => {},
    );
    const observer = new ResizeObserver(() => graph.current?.resize(element.clientWidth, HEIGHT_PX));
    observer.observe(element);
    return () => {
      gone = true;
      observer.disconnect();
      graph.current?.close();
      graph.current = null;
    };
  }, [series, theme]);
  useEffect(() => graph.current?.show(span), [span]);
  const title = t("history.speedIn", { unit: speedSign(look) });
  return (
    <div class="speed-graph" role="img" aria-label={title}>
      <span class="graph-unit" aria-hidden="true">
        {speedSign(look)}
      </span>
      <div ref={box} style={{ height: `${HEIGHT_PX}px` }} />
    </div>
  );
}
