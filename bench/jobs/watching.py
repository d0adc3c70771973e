"""Jobs 1, 2 and 4: where a vehicle is, its cameras, and to follow it."""

import re
from typing import TYPE_CHECKING

from motorpool.bench.jobs.hand import Hand
from motorpool.bench.jobs.scene import Scene, Subject

if TYPE_CHECKING:
    from playwright.sync_api import Locator

_PLACE = re.compile(r"-?\d+\.\d{5}, -?\d+\.\d{5}")
_MOTION = re.compile(r"(moving|driving|standing|stands|parked|idling)", re.IGNORECASE)


def find_by_hand(hand: Hand, scene: Scene, van: Subject | None = None) -> float:
    """Press the row of a vehicle, if not another one of that which drives."""
    name = (van or scene.driving).name
    scene.open_fleet(hand, name)
    hand.press(hand.page.get_by_role("link", name=re.compile(name)).first)
    return _shown_place(hand)


def find_by_keys(hand: Hand, scene: Scene, van: Subject | None = None) -> float:
    """Search it by its name."""
    name = (van or scene.driving).name
    scene.open_fleet(hand, name)
    scene.open_vehicle(hand, name)
    return _shown_place(hand)


def watch_by_hand(hand: Hand, scene: Scene) -> float:
    """Press its row, then *Live*: each frame says what it waits for, or shows a picture."""
    find_by_hand(hand, scene)
    hand.press(_panel(hand).get_by_role("link", name="Live"))
    return hand.shown(_first_frame(hand))


def watch_by_keys(hand: Hand, scene: Scene) -> float:
    """The same by a key."""
    find_by_keys(hand, scene)
    hand.key("v")
    return hand.shown(_first_frame(hand))


def follow_by_hand(hand: Hand, scene: Scene) -> float:
    """The map that follows is beside the cameras."""
    find_by_hand(hand, scene)
    hand.press(_panel(hand).get_by_role("link", name="Live"))
    return hand.shown(_first_frame(hand), _map(hand))


def follow_by_keys(hand: Hand, scene: Scene) -> float:
    """On the vehicle: follow it, then its cameras."""
    find_by_keys(hand, scene)
    hand.acts = 0
    hand.key("f", "v")
    return hand.shown(_first_frame(hand), _map(hand))


def _panel(hand: Hand) -> "Locator":
    return hand.page.get_by_role("complementary", name="Vehicle")


def _shown_place(hand: Hand) -> float:
    panel = _panel(hand)
    return hand.shown(panel.get_by_text(_PLACE).first, panel.get_by_text(_MOTION).first)


def _first_frame(hand: Hand) -> "Locator":
    return hand.page.get_by_role("article").first


def _map(hand: Hand) -> "Locator":
    return hand.page.get_by_role("button", name="Zoom in").first
