/** A line over time, drawn by uPlot; loaded when the first graph is shown. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Span } from "../time/spans";

export interface Series {
  /** Seconds since 1970, ordered. */
  at: readonly number[];
  /** Null where the line is interrupted. */
  values: readonly (number | null)[];
}

export interface Look {
  line: string;
  grid: string;
  text: string;
  font: string;
  /** Of the axis beside the plot; pixels. */
  gutter: number;
  /** A value of the axis. */
  label: (value: number) => string;
}

export class SeriesGraph {
  readonly #plot: uPlot;

  /** Draw in an element of `width` with the gutter, and of `height` pixels. */
  constructor(element: HTMLElement, series: Series, look: Look, width: number, height: number) {
    const axis = { stroke: look.text, font: look.font };
    this.#plot = new uPlot(
      {
        width,
        height,
        padding: [8, 0, 4, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: true },
          y: { range: (_, __, most) => [0, Math.max(10, most * 1.08)] },
        },
        axes: [
          { show: false },
          {
            ...axis,
            size: look.gutter,
            space: 24,
            grid: { stroke: look.grid, width: 1 },
            ticks: { show: false },
            values: (_, values) => values.map(look.label),
          },
        ],
        series: [{}, { stroke: look.line, width: 1.5, points: { show: false } }],
      },
      [[...series.at], [...series.values]],
      element,
    );
  }

  show({ from, to }: Span): void {
    this.#plot.setScale("x", { min: from / 1000, max: to / 1000 });
  }

  resize(width: number, height: number): void {
    this.#plot.setSize({ width, height });
  }

  close(): void {
    this.#plot.destroy();
  }
}
