import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import "./tree.css";
import { type Node, parentInward, parentOutward, possibleParents, type TreeRow } from "./treeRows";

interface TreeProps<T extends Node> {
  /** All of it, which says where a node may be moved. */
  rows: readonly TreeRow<T>[];
  /** Those that are shown, by default all. */
  shown?: readonly TreeRow<T>[];
  label: string;
  /** What the place is called that a node is moved to which is to be below none. */
  topLevel: string;
  mayMove: boolean;
  onMove: (node: T, parentId: number) => void;
  isArchived?: (node: T) => boolean;
  /** A row; what has the focus in it is of the class `tree-node` and takes the keys. */
  children: (row: TreeRow<T>, onKeyDown: (event: KeyboardEvent) => void) => ComponentChildren;
}

/** Records below each other, moved by dragging them, or by Alt and the arrow to the left or right. */
export function Tree<T extends Node>(props: TreeProps<T>) {
  const { rows, shown = rows, label, topLevel, mayMove, onMove, isArchived, children } = props;
  const [dragged, setDragged] = useState<T | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const targets = dragged && possibleParents(rows, dragged.id);
  const end = () => {
    setDragged(null);
    setOver(null);
  };
  const move = (node: T, parentId: number | null) => {
    if (parentId !== null && parentId !== node.parentId) onMove(node, parentId);
  };
  const press = (event: KeyboardEvent, node: T) => {
    if (mayMove && event.altKey && event.key === "ArrowRight") move(node, parentInward(rows, node.id));
    else if (mayMove && event.altKey && event.key === "ArrowLeft") move(node, parentOutward(rows, node.id));
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const nodes = [...(list.current?.querySelectorAll<HTMLElement>(".tree-node") ?? [])];
      const at = nodes.indexOf(event.currentTarget as HTMLElement);
      nodes[at + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
    } else return;
    event.preventDefault();
  };
  /** What makes an element a place to drop at. */
  const target = (parentId: number) => ({
    onDragOver: (event: DragEvent) => {
      if (!targets?.has(parentId)) return;
      event.preventDefault();
      setOver(parentId);
    },
    onDragLeave: () => setOver((before) => (before === parentId ? null : before)),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      end();
      if (dragged) move(dragged, parentId);
    },
  });
  return (
    <ul class="tree" ref={list} aria-label={label}>
      {shown.map((row) => (
        <li
          key={row.node.id}
          class={`${isArchived?.(row.node) ? "archived" : ""}${over === row.node.id ? " over" : ""}`}
          style={{ "--depth": row.depth }}
          draggable={mayMove}
          onDragStart={(event) => {
            setDragged(row.node);
            event.dataTransfer?.setData("text/plain", row.node.name);
          }}
          onDragEnd={end}
          {...target(row.node.id)}
        >
          {children(row, (event) => press(event, row.node))}
        </li>
      ))}
      {dragged && (
        <li class={`tree-top${over === 0 ? " over" : ""}`} {...target(0)}>
          {topLevel}
        </li>
      )}
    </ul>
  );
}
