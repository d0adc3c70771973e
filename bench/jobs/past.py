"""Jobs 3 and 6: what happened at a time, with its film as a file; and a day as a file."""

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from motorpool.bench.jobs.hand import Hand
from motorpool.bench.jobs.scene import Scene
from motorpool.bench.jobs.watching import find_by_hand, find_by_keys

if TYPE_CHECKING:
    from playwright.sync_api import Locator

_FILM_MS = 240_000
"""The vehicle sends two minutes of film as slowly as they were filmed."""
_BEFORE = timedelta(seconds=30)
"""The film that is offered begins so long before the time."""


def review_by_hand(hand: Hand, scene: Scene) -> float:
    """Enter the time, fetch the video, and keep its file; the seconds are those until the time is shown."""
    at = scene.drove_at()
    find_by_hand(hand, scene)
    _press_history(hand)
    # Phones have a picker in place of words.
    field = hand.page.get_by_label("Go to" if hand.finger else "Time", exact=True)
    hand.press(field)
    hand.sent()
    field.fill(f"{at:%H:%M}")
    hand.page.keyboard.press("Enter")
    seconds = hand.shown(*_moment(hand, f"{at - _BEFORE:%H:%M:%S}"))
    hand.press(_film(hand).get_by_role("button", name="Fetch video"))
    file = _film(hand).get_by_role("link", name="Download").first
    file.wait_for(timeout=_FILM_MS)
    with hand.page.expect_download():
        hand.press(file)
    return seconds


def review_by_keys(hand: Hand, scene: Scene) -> float:
    """The same until the video is asked for: it is downloaded when it is there."""
    at = scene.drove_at()
    find_by_keys(hand, scene)
    hand.key("h")
    hand.page.get_by_role("slider", name="Time that is shown").wait_for()
    hand.page.keyboard.type(f"{at:%H:%M}")
    hand.key("Enter")
    seconds = hand.shown(*_moment(hand, f"{at - _BEFORE:%H:%M:%S}"))
    with hand.page.expect_request(lambda request: request.method == "POST" and "/captures" in request.url):
        hand.key("k")
    return seconds


def export_by_hand(hand: Hand, scene: Scene) -> float:
    """Route, trips and stops of yesterday as a workbook."""
    find_by_hand(hand, scene)
    _press_history(hand)
    hand.press(hand.page.get_by_role("button", name="Yesterday"))
    with hand.page.expect_download():
        hand.press(hand.page.get_by_role("link", name="Excel"))
    return hand.since()


def export_by_keys(hand: Hand, scene: Scene) -> float:
    """The same on the vehicle."""
    find_by_keys(hand, scene)
    hand.acts = 0
    hand.key("h", "y")
    hand.page.wait_for_url(re.compile("from=now-1d/d"))
    with hand.page.expect_download():
        hand.key("e")
    return hand.since()


def _press_history(hand: Hand) -> None:
    panel = hand.page.get_by_role("complementary", name="Vehicle")
    hand.press(panel.get_by_role("link", name="History"))


def _film(hand: Hand) -> "Locator":
    return hand.page.get_by_role("region", name="Recorded video")


def _moment(hand: Hand, begin: str) -> tuple["Locator", ...]:
    """Return what shows a time: the playhead, and the film around it."""
    slider = hand.page.get_by_role("slider", name="Time that is shown")
    return slider, _film(hand).get_by_text(re.compile(begin)).first
