import { render } from "@testing-library/preact";
import { useEffect, useRef } from "preact/hooks";
import { afterEach, expect, test, vi } from "vitest";
import { startKeys, useKeys } from "./listen";

const created = vi.fn();

/** A place whose search is in another one, which is there after a while. */
function Places({ loaded }: { loaded: boolean }) {
  const field = useRef<HTMLInputElement>(null);
  useKeys("anywhere", { search: () => undefined });
  useKeys("tickets", { create: created });
  useEffect(() => field.current?.focus(), [loaded]);
  return loaded ? <input type="search" ref={field} /> : null;
}

function type(text: string) {
  for (const key of text) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  }
}

startKeys(() => true);

afterEach(() => created.mockClear());

test("what is typed after the key of the search is its text, once its field is there", async () => {
  const { rerender, container } = render(<Places loaded={false} />);
  type("/No picture");
  rerender(<Places loaded={true} />);
  await vi.waitFor(() => expect(container.querySelector("input")?.value).toBe("No picture"));
  expect(created).not.toHaveBeenCalled();
});

test("a click ends the wait for the field of the search", () => {
  render(<Places loaded={false} />);
  type("/");
  document.body.dispatchEvent(new Event("pointerdown", { bubbles: true }));
  type("c");
  expect(created).toHaveBeenCalledOnce();
});
