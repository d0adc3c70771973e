import { useEffect, useRef, useState } from "preact/hooks";
import type { Shape } from "../../map/area";
import { container } from "../../map/areaGeometry";
import { changed, snapshot } from "../../state/fleet";

/** Vehicles are counted at most this often while a shape is drawn or vehicles move. */
const BEAT_MS = 250;

/** How many vehicles are within a shape now; null without one. */
export function useInside(shape: Shape | null, halfWidth: number): number | null {
  const [count, setCount] = useState<number | null>(null);
  const look = useRef(() => {});
  look.current = () => setCount(shape && countIn(shape, halfWidth));
  const timer = useRef(0);
  const soon = () => {
    timer.current ||= window.setTimeout(() => {
      timer.current = 0;
      look.current();
    }, BEAT_MS);
  };
  useEffect(soon, [shape, halfWidth]);
  useEffect(() => {
    const end = changed.subscribe(soon);
    return () => {
      clearTimeout(timer.current);
      timer.current = 0;
      end();
    };
  }, []);
  return shape && count;
}

function countIn(shape: Shape, halfWidth: number): number {
  const holds = container(shape, halfWidth);
  let count = 0;
  for (const { position } of snapshot()) {
    if (position?.valid && holds([position.latitude, position.longitude])) count += 1;
  }
  return count;
}
