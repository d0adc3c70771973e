/**
 * Listens for the keys of the table. Of several places that take a key the one that was opened last gets it, and of
 * a place that is still being loaded when it is there.
 */

import { useLayoutEffect, useRef } from "preact/hooks";
import { type Act, actOf, begins, type KeyPlace, keyName } from "./table";

/** What an act does; `name` is the key. `false` leaves the key to others. */
type Handler = (name: string, event: KeyboardEvent) => unknown;
type Handlers = Partial<Record<string, Handler>>;

interface Listener {
  place: KeyPlace;
  handlers: () => Handlers;
}

interface Pressed {
  name: string;
  /** The key before it, of a sequence. */
  first: string;
  event: KeyboardEvent;
}

/** The second key of a sequence comes within this time. */
const SEQUENCE_MS = 1500;
/** A place that is shown later than this takes no keys that were pressed before. */
const AHEAD_MS = 3000;

const listeners: Listener[] = [];
let before = "";
let timer = 0;
/** What nothing has taken, since the last key or click that did something. */
let ahead: Pressed[] = [];
let aheadTimer = 0;
/** They are offered to the listeners next. */
let offering = false;
/** What was typed since the key of the search, whose field is not there yet; null: no search is awaited. */
let searched: string | null = null;
let searchedTimer = 0;
let enabled: () => boolean = () => true;

/** Begin to listen. Keys without a modifier are ignored while `single` says false (WCAG 2.2, 2.1.4). */
export function startKeys(single: () => boolean): void {
  enabled = single;
  document.addEventListener("keydown", pressed);
  document.addEventListener("pointerdown", forget, { capture: true });
  document.addEventListener("focusin", enterSearched);
}

/** Take the keys of a place while the component is shown. */
export function useKeys<P extends KeyPlace>(place: P, handlers: Partial<Record<Act<P>, Handler>>): void {
  const latest = useRef<Handlers>(handlers as Handlers);
  latest.current = handlers as Handlers;
  // With what is drawn, so that no key is lost to it.
  useLayoutEffect(() => {
    const listener: Listener = { place, handlers: () => latest.current };
    listeners.push(listener);
    offerSoon();
    return () => {
      listeners.splice(listeners.indexOf(listener), 1);
    };
  }, [place]);
}

function pressed(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || isModifier(event.key)) return;
  const name = keyName(event);
  const single = !name.startsWith("Ctrl+");
  if ((single && (!enabled() || isTyping(event.target))) || isDialogOpen()) {
    forget();
    return;
  }
  if (searched !== null && single && name.length === 1) {
    searched += name;
    event.preventDefault();
    return;
  }
  const first = before;
  before = "";
  clearTimeout(timer);
  const key = { name, first, event };
  // Each after those before it.
  if (offering && single) ahead.push(key);
  else if (run(key)) ahead = [];
  else if (single && !first && begins(name)) {
    before = name;
    timer = window.setTimeout(() => {
      before = "";
    }, SEQUENCE_MS);
  } else if (name.length === 1 && name !== " ") {
    ahead.push(key);
    clearTimeout(aheadTimer);
    aheadTimer = window.setTimeout(forget, AHEAD_MS);
  } else forget();
}

function forget(): void {
  ahead = [];
  searched = null;
}

/** What is typed next is text for the search, although the place with its field may have to be loaded. */
function awaitSearch(): void {
  if (isTyping(document.activeElement)) return;
  searched = "";
  clearTimeout(searchedTimer);
  searchedTimer = window.setTimeout(() => {
    searched = null;
  }, AHEAD_MS);
}

function enterSearched(): void {
  const field = document.activeElement;
  if (searched === null || !(field instanceof HTMLInputElement && isTyping(field))) return;
  const text = searched;
  searched = null;
  if (text) enter(field, text);
}

function offerSoon(): void {
  if (offering || ahead.length === 0) return;
  offering = true;
  setTimeout(offer);
}

/** Do the first thing that was asked for before its place was there; what it does is drawn before the next one. */
function offer(): void {
  offering = false;
  if (isDialogOpen()) forget();
  const taken = ahead.findIndex(takeLate);
  if (taken < 0) return;
  ahead = ahead.slice(taken + 1);
  offerSoon();
}

function takeLate(key: Pressed): boolean {
  const field = document.activeElement;
  if (!(field instanceof HTMLInputElement && isTyping(field))) return run(key);
  enter(field, key.name);
  return true;
}

/** Type a text. */
function enter(field: HTMLInputElement, text: string): void {
  field.value += text;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

/** An open dialog keeps the keys to itself. */
function isDialogOpen(): boolean {
  return document.querySelector("dialog[open]:modal") !== null;
}

function run({ name, first, event }: Pressed): boolean {
  // Enter and Space belong to the button or link that has the focus.
  if ((name === "Enter" || name === " ") && isPressable(event.target)) return false;
  for (const { place, handlers } of [...listeners].reverse()) {
    const act = actOf(place, name, first);
    const handler = act === null ? undefined : handlers()[act];
    if (!handler || handler(name, event) === false) continue;
    event.preventDefault();
    if (act === "search") awaitSearch();
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
