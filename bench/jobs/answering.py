"""Job 9: the most urgent ticket is taken and answered, and waits for its contact."""

import re
from typing import TYPE_CHECKING

from motorpool.bench.jobs.hand import Hand
from motorpool.bench.jobs.scene import Scene

if TYPE_CHECKING:
    from playwright.sync_api import Locator

_SUBJECT = "Bench: no picture"
_ANSWER = "Please restart the recorder."


def answer_by_hand(hand: Hand, scene: Scene) -> float:
    """Press *Tickets*, the first one, *Take* and, after the answer is typed, the button that sends it."""
    _begin(hand, scene)
    page = hand.page
    hand.press(page.get_by_role("link", name="Tickets").first)
    hand.press(_most_urgent(hand))
    hand.press(page.get_by_role("button", name="Take", exact=True))
    _type_answer(hand)
    hand.press(page.get_by_role("button", name="Send to "))
    return _shown_waiting(hand)


def answer_by_keys(hand: Hand, scene: Scene) -> float:
    """The same by a key each."""
    _begin(hand, scene)
    page = hand.page
    hand.key("g", "t")
    _most_urgent(hand).wait_for()
    hand.key("Enter")
    page.get_by_role("button", name="Take", exact=True).wait_for()
    hand.key("a", "r")
    _type_answer(hand)
    hand.key("Control+Enter")
    return _shown_waiting(hand)


def _begin(hand: Hand, scene: Scene) -> None:
    """Have an urgent ticket that nobody has taken while somebody looks at the fleet."""
    scene.add_ticket(_SUBJECT)
    scene.open_fleet(hand, scene.driving.name)


def _type_answer(hand: Hand) -> None:
    """Type where the focus is."""
    hand.page.locator("textarea:focus").wait_for()
    hand.page.keyboard.type(_ANSWER)


def _most_urgent(hand: Hand) -> "Locator":
    return hand.page.get_by_role("list", name="Mine and unassigned").get_by_role("link").first


def _shown_waiting(hand: Hand) -> float:
    """Wait for the answer in the conversation, and for the status."""
    talk = hand.page.get_by_role("list", name="Conversation")
    return hand.shown(
        talk.get_by_role("listitem").filter(has_text=_ANSWER).first,
        hand.page.get_by_role("button", name=re.compile("^Waiting for contact")).first,
    )
