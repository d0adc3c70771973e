/** Records below each other, such as groups, as the rows of a tree. Pure. */

export interface Node {
  id: number;
  parentId: number;
  name: string;
}

export interface TreeRow<T extends Node> {
  node: T;
  /** 0 for a root. */
  depth: number;
}

/** Nodes in the order in which a tree shows them: by name, each above those below it. */
export function treeRows<T extends Node>(nodes: readonly T[]): readonly TreeRow<T>[] {
  const known = new Set(nodes.map(({ id }) => id));
  const below = new Map<number, T[]>();
  for (const each of nodes) {
    const parent = known.has(each.parentId) ? each.parentId : 0;
    below.set(parent, [...(below.get(parent) ?? []), each]);
  }
  const rows: TreeRow<T>[] = [];
  const add = (parent: number, depth: number) => {
    const children = (below.get(parent) ?? []).sort((one, other) => one.name.localeCompare(other.name));
    for (const node of children) {
      rows.push({ node, depth });
      add(node.id, depth + 1);
    }
  };
  add(0, 0);
  return rows;
}

/** A node and all below it. */
export function branchOf(rows: readonly TreeRow<Node>[], id: number): ReadonlySet<number> {
  const found = new Set([id]);
  for (const { node } of rows) if (found.has(node.parentId)) found.add(node.id);
  return found;
}

/** The nodes that one may be moved below; 0, the top level, is always among them. */
export function possibleParents(rows: readonly TreeRow<Node>[], id: number): ReadonlySet<number> {
  const own = branchOf(rows, id);
  return new Set([0, ...rows.map(({ node }) => node.id).filter((each) => !own.has(each))]);
}

/** Where a node goes one level further in: below the sibling before it. Null if it is the first of its level. */
export function parentInward(rows: readonly TreeRow<Node>[], id: number): number | null {
  const at = rows.findIndex(({ node }) => node.id === id);
  const depth = rows[at]?.depth;
  if (depth === undefined) return null;
  for (let index = at - 1; index >= 0; index--) {
    const row = rows[index];
    if (!row || row.depth < depth) return null;
    if (row.depth === depth) return row.node.id;
  }
  return null;
}

/** Where a node goes one level further out: beside its parent. Null if it is a root. */
export function parentOutward(rows: readonly TreeRow<Node>[], id: number): number | null {
  const parentId = rows.find(({ node }) => node.id === id)?.node.parentId ?? 0;
  const parent = rows.find(({ node }) => node.id === parentId);
  return parent ? parent.node.parentId : null;
}
