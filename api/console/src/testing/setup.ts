/** What happy-dom lacks of a browser, for all component tests. */

import { vi } from "vitest";

// No WebGL: places say so where their maps would be, as they do in such a browser.
vi.mock("../map/base", () => ({
  loadBase: async () => {
    const { MapUnavailable } = await import("../map/unavailable");
    throw new MapUnavailable("no WebGL");
  },
}));

// A browser gives the focus to what asks for it in a dialog that opens, and knows which dialogs are modal: here all are.
const { showModal } = HTMLDialogElement.prototype;
HTMLDialogElement.prototype.showModal = function () {
  showModal.call(this);
  const first =
    this.querySelector<HTMLElement>("[autofocus]") ?? this.querySelector<HTMLElement>("button, input");
  first?.focus();
};
const { querySelector } = Document.prototype;
Document.prototype.querySelector = function (selectors: string) {
  return querySelector.call(this, selectors.replace(":modal", ""));
};

// Nothing is laid out: boxes are as high as a window.
Object.defineProperty(HTMLElement.prototype, "clientHeight", { configurable: true, get: () => 800 });

// As Chromium does.
const { select } = HTMLInputElement.prototype;
HTMLInputElement.prototype.select = function () {
  this.focus();
  select.call(this);
};
