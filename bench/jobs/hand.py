"""The hand of the person who does a job: it presses, counts that, and tells how long the page takes."""

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


NOTE_ACTS = """
for (const kind of ["click", "keydown"]) {
  addEventListener(kind, (event) => { window.actedAt = performance.timeOrigin + event.timeStamp; }, true);
}
"""
"""A script of each page: notes when the last act came, in milliseconds since 1970."""
_ACTED = "() => window.actedAt"
_REST_MS = 3000
"""People look at a page before they press: map and socket are there by then."""


class Hand:
    """Presses with a mouse or a finger, and keys; text that is typed does not count."""

    def __init__(self, page: "Page", *, finger: bool = False) -> None:
        self.page = page
        self.finger = finger
        self.acts = 0
        self._sent: float | None = None
        """When something was sent after the last act, in seconds since 1970."""

    def begin(self, address: str, ready: "Locator") -> None:
        """Open an address, and rest until `ready` is there and nothing more is loaded; then count anew."""
        self.page.goto(address)
        ready.wait_for()
        self.page.wait_for_timeout(_REST_MS)
        self.acts = 0

    def press(self, target: "Locator") -> None:
        """Click or tap."""
        target.wait_for()
        self._act()
        if self.finger:
            target.tap()
        else:
            target.click()

    def press_at(self, x: float, y: float) -> None:
        """Click or tap a place of the window, in pixels."""
        self._act()
        if self.finger:
            self.page.touchscreen.tap(x, y)
        else:
            self.page.mouse.move(x - 3, y - 3)
            self.page.mouse.move(x, y)
            self.page.mouse.click(x, y)

    def key(self, *names: str) -> None:
        """Press keys, one after the other."""
        for name in names:
            self._act()
            self.page.keyboard.press(name)

    def shown(self, *what: "Locator") -> float:
        """Wait until all of this is visible; return the seconds since the last act."""
        for each in what:
            each.wait_for()
        return self.since()

    def since(self) -> float:
        """Return the seconds since the last act, by the browser's own time of it.

        Before it presses, Playwright waits until nothing moves; that is not the page's time.
        """
        now = time.time()
        acted: float = self.page.evaluate(_ACTED) / 1000
        return now - (acted if self._sent is None else self._sent)

    def sent(self) -> None:
        """Take the time from now on: what follows is no act that counts."""
        self._sent = time.time()

    def _act(self) -> None:
        self.acts += 1
        self._sent = None
