import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type ShapeKind, writeArea } from "../../map/area";
import type { BaseMap } from "../../map/baseMap";
import { hexOf } from "../../map/colors";
import type { Drawing } from "../../map/draw";
import type { Editing } from "./editing";

/**
 * Draw and change the shape of a zone on the map with the mouse, while `editing` is not null. What draws is loaded
 * when it is first needed. `onHandles` is told whether the shape has handles.
 */
export function useDrawing(
  map: BaseMap | null,
  editing: Editing | null,
  onHandles: (has: boolean) => void,
): void {
  useEffect(() => {
    if (!map || !editing) return undefined;
    let end = () => {};
    let gone = false;
    void import("../../map/draw").then(({ Drawing }) => {
      if (gone) return;
      let color = "";
      let drawing: Drawing | null = null;
      const follow = new Follower(editing, onHandles);
      const remove = map.addDrawn({
        add: (colors) => {
          const { color: own } = editing.record.peek().attributes;
          color = hexOf(typeof own === "string" && own ? own : colors.accent);
          drawing = new Drawing(map.map, color as `#${string}`, (shape, done) => follow.drawn(shape, done));
          follow.begin(drawing);
        },
        leave: () => {
          follow.end();
          drawing?.close();
          drawing = null;
        },
      });
      end = remove;
    });
    return () => {
      gone = true;
      end();
    };
  }, [map, editing]);
}

/** Keeps what is drawn and what is edited the same, without either answering its own change. */
class Follower {
  /** The area that the drawing shows. */
  #shown: string | null = null;
  #kind: ShapeKind | null = null;
  #end = () => {};

  constructor(
    private readonly editing: Editing,
    private readonly onHandles: (has: boolean) => void,
  ) {}

  begin(drawing: Drawing): void {
    this.#shown = null;
    this.#kind = null;
    this.#end = effect(() => {
      const kind = this.editing.drawing.value;
      const { area } = this.editing.record.value;
      const shape = this.editing.shape.value;
      if (kind) {
        if (kind !== this.#kind) drawing.begin(kind);
      } else if (area !== this.#shown) {
        this.onHandles(drawing.show(shape));
        this.#shown = area;
      }
      this.#kind = kind;
    });
  }

  end(): void {
    this.#end();
  }

  drawn(shape: Parameters<Editing["setShape"]>[0], done: boolean): void {
    // Until the shape is finished it has no handles; then it is shown anew, with them.
    if (!this.editing.drawing.peek()) this.#shown = writeArea(shape);
    this.editing.setShape(shape);
    // Terra Draw is still at work with what was finished.
    if (done) setTimeout(() => this.#finish());
  }

  #finish(): void {
    this.#shown = null;
    this.editing.drawing.value = null;
  }
}
