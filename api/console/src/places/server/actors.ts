/** The tree of actors (docs/supervision.md) as rows, and what of it has grown. Pure. */

/** A node of `GET /server/actors`. */
export interface Actor {
  path: string;
  kind: string;
  state: string;
  /** Messages that wait, here and below. */
  depth: number;
  /** Messages that the mailbox holds at most; 0 for what has none. */
  size: number;
  handled: number;
  restarts: number;
  last_error: string;
  /** Actors here and below. */
  alive: number;
  /** Seconds since it was started; 0 for what is no single actor. */
  age: number;
  children: readonly Actor[];
}

export interface ActorRow {
  actor: Actor;
  name: string;
  level: number;
  isOpen: boolean;
  /** Actors that are there and not among the children. */
  left: number;
  /** Whether more waits than at the look before. */
  grew: boolean;
  /** Restarts since the first look. */
  restarted: number;
}

/** The actors by path. */
export type Look = ReadonlyMap<string, Actor>;

export function lookAt(tree: readonly Actor[]): Look {
  const found = new Map<string, Actor>();
  const add = (actor: Actor) => {
    found.set(actor.path, actor);
    actor.children.forEach(add);
  };
  tree.forEach(add);
  return found;
}

/** Supervisors are open at first; what has many actors of one kind is not. */
export function isOpenAtFirst({ kind }: Actor): boolean {
  return kind === "supervisor";
}

/** Whether somebody who looks for trouble wants to see it. */
export function isTroubled({ depth, restarts, last_error, state }: Actor): boolean {
  return depth > 0 || restarts > 0 || last_error !== "" || state === "down" || state === "stopped";
}

interface RowsOptions {
  /** Paths that were opened or closed by hand. */
  turned: ReadonlySet<string>;
  /** Only what is troubled, with what stands above it. */
  troubled: boolean;
  first: Look;
  before: Look;
}

/** The rows of the tree, each below its parent. */
export function actorRows(
  tree: readonly Actor[],
  { turned, troubled, first, before }: RowsOptions,
): readonly ActorRow[] {
  const rows: ActorRow[] = [];
  function add(actor: Actor, level: number): boolean {
    const isOpen = troubled || isOpenAtFirst(actor) !== turned.has(actor.path);
    const earlier = before.get(actor.path);
    const at = rows.length;
    rows.push({
      actor,
      name: actor.path.slice(actor.path.lastIndexOf("/") + 1),
      level,
      isOpen: isOpen && actor.children.length > 0,
      left: isOpenAtFirst(actor) || actor.children.length === 0 ? 0 : actor.alive - livingOf(actor),
      grew: earlier !== undefined && actor.depth > earlier.depth,
      restarted: Math.max(0, actor.restarts - (first.get(actor.path)?.restarts ?? actor.restarts)),
    });
    let isShown = !troubled || isTroubled(actor);
    if (isOpen) for (const child of actor.children) isShown = add(child, level + 1) || isShown;
    if (!isShown) rows.splice(at);
    return isShown;
  }
  for (const actor of tree) add(actor, 0);
  return rows;
}

function livingOf({ children }: Actor): number {
  return children.reduce((count, { alive }) => count + alive, 0);
}
