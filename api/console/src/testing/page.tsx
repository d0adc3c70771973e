/** A page of the console in happy-dom: real places, router, texts and keys, before a server of the test's own. */

import { cleanup, configure, render, screen } from "@testing-library/preact";
import userEvent from "@testing-library/user-event";
import axe from "axe-core";
import { afterEach, expect, vi } from "vitest";
import { type FakeServer, FakeSocket } from "./server";

/** Generous, since the machine may be busy. */
const WAIT_MS = 20_000;
configure({ asyncUtilTimeout: WAIT_MS, defaultHidden: true });

interface Listening {
  target: EventTarget;
  kind: string;
  listener: EventListenerOrEventListenerObject | null;
  options: boolean | AddEventListenerOptions | undefined;
}

let server: FakeServer | null = null;
let listening: Listening[] = [];
/** Addresses that pages were to be loaded from anew. */
let left: string[] = [];

/**
 * Open an address as a browser does that has nothing of an earlier page but what is stored. Times are those of a clock
 * that runs by itself, and that `vi.advanceTimersByTimeAsync` moves on.
 */
export async function openPage(address: string, given: FakeServer): Promise<Page> {
  leavePage();
  server = given;
  vi.resetModules();
  vi.useFakeTimers({
    toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"],
    shouldAdvanceTime: true,
  });
  vi.stubGlobal("fetch", given.fetch.bind(given));
  vi.stubGlobal(
    "WebSocket",
    Object.assign(
      function Socket() {
        return new FakeSocket(given);
      },
      { OPEN: FakeSocket.OPEN },
    ),
  );
  for (const target of [document, window]) {
    const { addEventListener } = target;
    vi.spyOn(target, "addEventListener").mockImplementation(
      (
        kind: string,
        listener: EventListenerOrEventListenerObject | null,
        options?: boolean | AddEventListenerOptions,
      ) => {
        listening.push({ target, kind, listener, options });
        addEventListener.call(target, kind, listener as EventListener, options);
      },
    );
  }
  vi.spyOn(console, "error").mockImplementation((...said) => void given.complaints.push(said.join(" ")));
  for (const name of ["replace", "assign"] as const) {
    vi.spyOn(window.location, name).mockImplementation((to: string | URL) => void left.push(String(to)));
  }
  window.history.pushState(null, "", address);
  const { App } = await import("../places/frame/App");
  const { start } = await import("../places/frame/start");
  const { linkTokens } = await import("../linkTokens");
  render(<App />);
  void start(linkTokens.token);
  return new Page();
}

/** What a reader does on the page, and what the browser shows around it. */
export class Page {
  readonly user = userEvent.setup({ delay: null });

  /** The path and query in the address bar. */
  get address(): string {
    return window.location.pathname + window.location.search;
  }

  /** Addresses that the page was to be loaded from anew. */
  get left(): readonly string[] {
    return left;
  }

  /** Wait for the address bar, which follows what is typed once a second. */
  async expectAddress(wanted: string | RegExp): Promise<void> {
    await vi.waitFor(() => expect(this.address).toMatch(wanted), { timeout: WAIT_MS });
  }

  /** Press keys as the page has the focus: `/`, `{Enter}`, or a text. */
  press(keys: string): Promise<void> {
    return this.user.keyboard(keys);
  }

  /** Fill a field with something else. */
  async fill(label: string | RegExp, text: string): Promise<void> {
    const field = await screen.findByLabelText(label);
    await this.user.clear(field);
    if (text) await this.user.type(field, text);
  }

  /** Fail for serious findings of axe-core, but for those of colors and sizes, of which journeys in a browser see more. */
  async expectAccessible(): Promise<void> {
    const { violations } = await axe.run(document.body, {
      resultTypes: ["violations"],
      rules: { "color-contrast": { enabled: false }, "target-size": { enabled: false } },
    });
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join("\n")}`)).toEqual([]);
  }

  /** Click what has a role and a name. */
  async click(role: string, name: string | RegExp): Promise<void> {
    await this.user.click(await screen.findByRole(role, { name }));
  }
}

/** Leave the page as one that is closed: nothing of it goes on. */
export function leavePage(): void {
  cleanup();
  for (const { target, kind, listener, options } of listening) {
    target.removeEventListener(kind, listener, options);
  }
  listening = [];
  left = [];
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  document.body.replaceChildren();
}

afterEach(() => {
  leavePage();
  sessionStorage.clear();
  localStorage.clear();
  const complaints = server?.complaints ?? [];
  server = null;
  expect(complaints).toEqual([]);
});
