/** Listens for the keys of the table. Of several places that take a key the one that was opened last gets it. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { type Act, actOf, begins, type KeyPlace, keyName } from "./table";

/** What an act does; `name` is the key. `false` leaves the key to others. */
type Handler = (name: string, event: KeyboardEvent) => unknown;
type Handlers = Partial<Record<string, Handler>>;

interface Listener {
  place: KeyPlace;
  handlers: () => Handlers;
}

/** The second key of a sequence comes within this time. */
const SEQUENCE_MS = 1500;

const listeners: Listener[] = [];
let before = "";
let timer = 0;
let enabled: () => boolean = () => true;

/** Begin to listen. Keys without a modifier are ignored while `single` says false (WCAG 2.2, 2.1.4). */
export function startKeys(single: () => boolean): void {
  enabled = single;
  document.addEventListener("keydown", pressed);
}

/** Take the keys of a place while the component is shown. */
export function useKeys<P extends KeyPlace>(place: P, handlers: Partial<Record<Act<P>, Handler>>): void {
  const latest = useRef<Handlers>(handlers as Handlers);
  latest.current = handlers as Handlers;
  // With what is drawn, so that no key is lost to it.
  useLayoutEffect(() => {
    const listener: Listener = { place, handlers: () => latest.current };
    listeners.push(listener);
    return () => {
      listeners.splice(listeners.indexOf(listener), 1);
    };
  }, [place]);
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || isModifier(event.key)) return;
  const name = keyName(event);
  const single = !name.startsWith("Ctrl+");
  if (single && (!enabled() || isTyping(event.target))) return;
  // An open dialog keeps the keys to itself.
  if (document.querySelector("dialog[open]:modal")) return;
  const first = before;
  before = "";
  clearTimeout(timer);
  if (run(name, first, event)) return;
  if (single && !first && begins(name)) {
    before = name;
    timer = window.setTimeout(() => {
      before = "";
    }, SEQUENCE_MS);
  }
}

function run(name: string, first: string, event: KeyboardEvent): boolean {
  // Enter and Space belong to the button or link that has the focus.
  if ((name === "Enter" || name === " ") && isPressable(event.target)) return false;
  for (const { place, handlers } of [...listeners].reverse()) {
    const act = actOf(place, name, first);
    const handler = act === null ? undefined : handlers()[act];
    if (!handler || handler(name, event) === false) continue;
    event.preventDefault();
    return true;
  }
  return false;
}

function isModifier(key: string): boolean {
  return key === "Shift" || key === "Control" || key === "Alt" || key === "Meta";
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  ) {
    return true;
  }
  return (
    target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(target.type)
  );
}

function isPressable(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("button, a[href], summary, [role=menuitem]") !== null
  );
}
