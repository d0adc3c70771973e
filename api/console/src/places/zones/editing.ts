/** A zone while it is edited: its record, what it is linked to, and who is notified of what happens at it. */

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Geofence, Notification } from "../../api/types";
import { readArea, type Shape, type ShapeKind, writeArea } from "../../map/area";
import { differing } from "../../state/edits";

export type LinkKind = "groupId" | "deviceId" | "userId";
export type Links = Readonly<Record<LinkKind, readonly number[]>>;
/** Types of events. */
export type Crossing = "geofenceEnter" | "geofenceExit";

/** Of which events the reader is notified, and by what. */
export interface Notices {
  types: readonly Crossing[];
  notificators: readonly string[];
}

/** What the server has of a zone. */
export interface Stored {
  /** Null for a new one. */
  record: Geofence | null;
  /** As `getVersioned` gives it. */
  version: string;
  links: Links;
  /** Notifications about crossings of this zone and nothing else. */
  notifications: readonly Notification[];
}

const EMPTY: Geofence = { id: 0, name: "", description: null, area: "", calendarId: 0, attributes: {} };
const NO_LINKS: Links = { groupId: [], deviceId: [], userId: [] };

/** A zone that does not exist yet. */
export function newZone(): Stored {
  return { record: null, version: "", links: NO_LINKS, notifications: [] };
}

export class Editing {
  readonly stored: Signal<Stored>;
  readonly record: Signal<Geofence>;
  readonly links: Signal<Links>;
  readonly notices: Signal<Notices>;
  /** What the reader draws with the mouse at the moment. */
  readonly drawing = signal<ShapeKind | null>(null);
  /** Null for an area that cannot be read, or none yet. */
  readonly shape: ReadonlySignal<Shape | null>;
  /** Whether there is something to save. */
  readonly isChanged: ReadonlySignal<boolean>;

  constructor(stored: Stored, area = "") {
    this.stored = signal(stored);
    this.record = signal(stored.record ?? { ...EMPTY, area });
    this.links = signal(stored.links);
    this.notices = signal(noticesOf(stored.notifications));
    const text = computed(() => this.record.value.area);
    this.shape = computed(() => readArea(text.value));
    this.isChanged = computed(() => {
      const { record, links, notifications } = this.stored.value;
      return (
        differing(record ?? EMPTY, this.record.value).length > 0 ||
        !isSame(links, this.links.value) ||
        !isSame(noticesOf(notifications), this.notices.value)
      );
    });
  }

  set(change: Partial<Geofence>): void {
    this.record.value = { ...this.record.peek(), ...change };
  }

  /** Undefined removes the attribute. */
  setAttribute(name: string, value: unknown): void {
    const { [name]: _, ...others } = this.record.peek().attributes;
    this.set({ attributes: value === undefined ? others : { ...others, [name]: value } });
  }

  setShape(shape: Shape): void {
    const area = writeArea(shape);
    if (area !== this.record.peek().area) this.set({ area });
  }

  setLinks(kind: LinkKind, ids: readonly number[]): void {
    this.links.value = { ...this.links.peek(), [kind]: ids };
  }

  /** Take over what the server has now, under what the reader has changed. */
  rebase(stored: Stored, record: Geofence): void {
    batch(() => {
      this.stored.value = stored;
      this.record.value = record;
    });
  }
}

function noticesOf(notifications: readonly Notification[]): Notices {
  const types = (["geofenceEnter", "geofenceExit"] as const).filter((type) =>
    notifications.some((each) => each.type === type),
  );
  const names = notifications.flatMap((each) => each.notificators.split(",").map((name) => name.trim()));
  const notificators = [...new Set(names.filter(Boolean))];
  return { types, notificators: notificators.length > 0 ? notificators : ["web"] };
}

/** Whether two sets of lists hold the same; the order does not count. */
function isSame<T extends object>(one: T, other: T): boolean {
  const [first, second] = [Object.entries(one), Object.entries(other)];
  const found = new Map<string, readonly unknown[]>(second);
  return first.every(([key, list]: [string, readonly unknown[]]) => {
    const compared = found.get(key) ?? [];
    return list.length === compared.length && list.every((each) => compared.includes(each));
  });
}
