import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { go, location, withQuery } from "../../../router";
import { style } from "../../../state/session";
import type { Cursor } from "../../../time/cursor";
import type { Span } from "../../../time/spans";
import { askedAt, askedText, withCursor } from "./historyQuery";

/** Milliseconds between two updates of the address while the cursor moves. */
const PACE_MS = 1000;

/** Keep the instant and the zoomed part in the address, and follow an address that says another instant. */
export function useAddress(cursor: Cursor, span: Span): void {
  const written = useRef<number | null>(askedAt(location.peek().query));
  const asked = askedAt(location.value.query);
  useEffect(() => {
    if (asked === null || asked === written.current) return;
    written.current = asked;
    cursor.at.value = asked;
  }, [asked, cursor]);
  useEffect(() => {
    let timer = 0;
    let isFirst = true;
    const write = () => {
      timer = 0;
      const { path, query } = location.peek();
      const next = withCursor(query, cursor.at.peek(), cursor.span.peek(), span);
      if (!next.has("from")) {
        // Where no span is named an instant means its day: another one than that of before, and all would begin anew.
        const { from, to } = askedText(query, style.peek().zone);
        next.set("from", from);
        next.set("to", to);
      }
      written.current = askedAt(next);
      if (next.toString() !== query.toString()) go(withQuery(path, next), { replace: true });
    };
    const end = effect(() => {
      cursor.at.value;
      cursor.span.value;
      if (!isFirst) timer ||= window.setTimeout(write, PACE_MS);
      isFirst = false;
    });
    return () => {
      end();
      clearTimeout(timer);
    };
  }, [cursor, span]);
}
