/** Draws lanes and the axis below them on a canvas. */

import type { Style } from "../format/style";
import { clockSeconds, clockTime, dayMonth } from "../format/times";
import type { Span } from "../time/spans";
import { startOfDay } from "../time/zones";
import type { Block, Lane } from "./lanes";
import { ticks, xOf } from "./scale";

/** Heights in pixels. */
export const LANE_PX = 26;
export const AXIS_PX = 22;
const BAR_PX = 18;
const LEAST_PX = 2;
const MARK_RADIUS = 4;
const STRIPE_PX = 5;
const NAME_PX = 4;

export interface Painting {
  lanes: readonly Lane[];
  span: Span;
  /** Of the plot, in pixels. */
  width: number;
  style: Style;
  /** The color of a tone, or of another name of styles/tokens.css. */
  color: (tone: string) => string;
}

/** Draw all; the canvas has the size for its resolution afterwards. */
export function paint(canvas: HTMLCanvasElement, painting: Painting): void {
  const { lanes, span, width, color } = painting;
  const height = lanes.length * LANE_PX + AXIS_PX;
  const ratio = window.devicePixelRatio;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = canvas.getContext("2d");
  if (!context || width <= 0) return;
  context.scale(ratio, ratio);
  paintAxis(context, painting, lanes.length * LANE_PX);
  for (const [index, lane] of lanes.entries()) {
    const top = index * LANE_PX;
    context.fillStyle = color("edge");
    context.fillRect(0, top + LANE_PX - 1, width, 1);
    for (const block of lane.blocks) {
      if (block.to < span.from || block.from > span.to) continue;
      paintBlock(context, painting, block, top);
    }
    if (lane.series) paintSeries(context, painting, lane.series, top);
  }
}

function paintBlock(
  context: CanvasRenderingContext2D,
  { span, width, color }: Painting,
  block: Block,
  top: number,
): void {
  const left = xOf(block.from, span, width);
  const right = xOf(block.to, span, width);
  context.fillStyle = color(block.tone);
  if (block.from === block.to) {
    context.beginPath();
    context.arc(left, top + LANE_PX / 2, MARK_RADIUS, 0, 2 * Math.PI);
    context.fill();
    return;
  }
  const [begin, end] = [Math.max(left, -1), Math.min(right, width + 1)];
  const height = BAR_PX * (block.height ?? 1);
  const y = top + (LANE_PX + BAR_PX) / 2 - height;
  const wide = Math.max(LEAST_PX, end - begin);
  if (!block.hatched) {
    context.fillRect(begin, y, wide, height);
    if (block.name) paintName(context, block.name, { x: begin, y, width: wide, height }, color("ground"));
    return;
  }
  context.save();
  context.beginPath();
  context.rect(begin, y, wide, height);
  context.clip();
  context.strokeStyle = color(block.tone);
  context.lineWidth = 1.5;
  context.beginPath();
  for (let x = begin - (begin % STRIPE_PX) - height; x < end + height; x += STRIPE_PX) {
    context.moveTo(x, y + height);
    context.lineTo(x + height, y);
  }
  context.stroke();
  context.restore();
  context.strokeRect(begin + 0.5, y + 0.5, Math.max(LEAST_PX, wide - 1), height - 1);
}

/** Write a name into a block that is wide enough. */
function paintName(
  context: CanvasRenderingContext2D,
  name: string,
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
  color: string,
): void {
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.font = `12px ${getComputedStyle(document.documentElement).fontFamily}`;
  if (context.measureText(name).width + 2 * NAME_PX > width) return;
  context.fillStyle = color;
  context.fillText(name, x + NAME_PX, y + height / 2 + 0.5);
}

function paintSeries(
  context: CanvasRenderingContext2D,
  { span, width, color }: Painting,
  series: readonly [number, number][],
  top: number,
): void {
  const most = series.reduce((found, [, value]) => Math.max(found, value), 0) || 1;
  context.strokeStyle = color("ink");
  context.lineWidth = 1.25;
  context.beginPath();
  for (const [at, value] of series) {
    if (at < span.from || at > span.to) continue;
    context.lineTo(xOf(at, span, width), top + LANE_PX - 3 - (value / most) * BAR_PX);
  }
  context.stroke();
}

function paintAxis(context: CanvasRenderingContext2D, { span, width, style, color }: Painting, top: number) {
  const { step, at } = ticks(span, width, style.zone);
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.font = `12px ${getComputedStyle(document.documentElement).fontFamily}`;
  for (const instant of at) {
    const x = Math.round(xOf(instant, span, width));
    context.fillStyle = color("edge");
    context.fillRect(x, 0, 1, top + 4);
    context.fillStyle = color("faint");
    const text = labelOf(instant, step, style);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.min(Math.max(x, half), width - half), top + AXIS_PX / 2 + 2);
  }
}

function labelOf(instant: number, step: number, style: Style): string {
  if (instant === startOfDay(instant, style.zone)) return dayMonth(instant, style);
  return step < 60_000 ? clockSeconds(instant, style) : clockTime(instant, style);
}
