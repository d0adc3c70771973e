import { useEffect, useRef, useState } from "preact/hooks";
import "../../charts/graph.css";
import type { SeriesGraph } from "../../charts/series";
import { dayMonth } from "../../format/times";
import { number } from "../../format/units";
import { onTheme } from "../../map/colors";
import { style } from "../../state/session";
import { tonesNow } from "../../timeline/tones";

const HEIGHT_PX = 90;
const GUTTER_PX = 40;

interface LinesProps {
  label: string;
  /** Milliseconds since 1970, ordered. */
  at: readonly number[];
  values: readonly number[];
}

/** Counts over time as a line, with the first and last day below it. */
export function Lines({ label, at, values }: LinesProps) {
  const box = useRef<HTMLDivElement>(null);
  const [theme, setTheme] = useState(0);
  const look = style.value;
  const key = `${at.join()} ${values.join()}`;
  useEffect(() => onTheme(() => setTheme((count) => count + 1)), []);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let gone = false;
    let graph: SeriesGraph | null = null;
    import("../../charts/series").then(
      (module) => {
        if (gone) return;
        const color = tonesNow();
        const { fontFamily } = getComputedStyle(document.documentElement);
        graph = new module.SeriesGraph(
          element,
          { at: at.map((instant) => instant / 1000), values },
          {
            line: color("accent"),
            grid: color("edge"),
            text: color("faint"),
            font: `13px ${fontFamily}`,
            gutter: GUTTER_PX,
            label: (value) => number(value, 0, look),
          },
          element.clientWidth,
          HEIGHT_PX,
        );
        graph.show({ from: at[0] ?? 0, to: at.at(-1) ?? 1 });
      },
      // The table below says the same.
      () => {},
    );
    const observer = new ResizeObserver(() => graph?.resize(element.clientWidth, HEIGHT_PX));
    observer.observe(element);
    return () => {
      gone = true;
      observer.disconnect();
      graph?.close();
    };
  }, [key, theme, look]);
  return (
    <figure class="helpdesk-line">
      <figcaption>{label}</figcaption>
      <div ref={box} role="img" aria-label={label} style={{ height: `${HEIGHT_PX}px` }} />
      <div class="helpdesk-line-ends" aria-hidden="true">
        <span>{dayMonth(at[0] ?? 0, look)}</span>
        <span>{dayMonth(at.at(-1) ?? 0, look)}</span>
      </div>
    </figure>
  );
}
