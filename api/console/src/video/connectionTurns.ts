/**
 * Turns of connections. Over HTTP/1.1 a browser opens six connections to one server, for everything, and the first
 * reader of a live playlist is held until the camera sends: so only a few players may wait at once, and few may
 * hold a connection for low latency.
 */

/** Players that may wait for their first segment at once. */
export const WAITING = 3;
/** A turn ends after this, whatever came. */
export const TURN_MS = 12_000;
/** Low-latency players over HTTP/1.1; over HTTP/2 there is no limit. */
export const LOW_LATENCY = 2;

interface Waiting {
  /** How far the tile is from the middle of the screen, in pixels. */
  distance: () => number;
  begin: () => void;
}

/** Gives at most `limit` turns at once, to the nearest first. */
export class Turns {
  private readonly waiting = new Map<symbol, Waiting>();
  private readonly held = new Map<symbol, ReturnType<typeof setTimeout>>();

  constructor(
    private readonly limit: number = WAITING,
    private readonly milliseconds: number = TURN_MS,
  ) {}

  /** Call `begin` when it is this one's turn. Returns what ends the wait or the turn; it may be called twice. */
  take(distance: () => number, begin: () => void): () => void {
    const turn = Symbol("turn");
    this.waiting.set(turn, { distance, begin });
    // Tiles that appear together are compared with each other.
    queueMicrotask(() => this.give());
    return () => this.end(turn);
  }

  private give(): void {
    while (this.held.size < this.limit && this.waiting.size > 0) {
      const order = [...this.waiting].sort(([, one], [, other]) => one.distance() - other.distance());
      const next = order[0];
      if (!next) return;
      const [turn, { begin }] = next;
      this.waiting.delete(turn);
      this.held.set(
        turn,
        setTimeout(() => this.end(turn), this.milliseconds),
      );
      begin();
    }
  }

  private end(turn: symbol): void {
    this.waiting.delete(turn);
    clearTimeout(this.held.get(turn));
    if (this.held.delete(turn)) queueMicrotask(() => this.give());
  }
}

/** The turns of all players of the page. */
export const turns = new Turns();

let near = 0;

/** Take one of the places for low latency; null if there is none. Returns what gives it back. */
export function takeLowLatency(protocol: string): (() => void) | null {
  if (protocol !== "http/1.1" && protocol !== "") return () => {};
  if (near >= LOW_LATENCY) return null;
  near += 1;
  let given = false;
  return () => {
    if (!given) near -= 1;
    given = true;
  };
}

/** By which protocol the page came: `h2`, `http/1.1` …; empty if the browser does not say. */
export function protocolOfPage(): string {
  const entry = performance.getEntriesByType("navigation")[0];
  return entry && "nextHopProtocol" in entry ? String(entry.nextHopProtocol) : "";
}
