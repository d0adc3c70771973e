"""Jobs 5 and 7: an alarm is answered, and an engine stopped."""

import re

from motorpool.bench.jobs.hand import Hand
from motorpool.bench.jobs.scene import Scene
from motorpool.bench.jobs.watching import find_by_hand, find_by_keys

VAN = "Bench van"
_PLACE = (52.52, 13.40)
_ALARM = "general"
_SAID = re.compile("general alarm")
_FILM = re.compile("can be fetched 45 seconds after the event|Play what the vehicle has")
"""What the proof says of the film, which the vehicle still films."""


def answer_by_hand(hand: Hand, scene: Scene) -> float:
    """Press *Show*: place and picture; then make a ticket."""
    _await_alarm(hand, scene)
    notice = hand.page.get_by_role("alert").filter(has_text=_SAID)
    hand.press(notice.get_by_role("button", name="Show").first)
    seconds = _shown_alarm(hand)
    hand.press(hand.page.get_by_role("button", name="Make a ticket").first)
    return max(seconds, _shown_ticket(hand))


def answer_by_keys(hand: Hand, scene: Scene) -> float:
    """The same by a key each."""
    _await_alarm(hand, scene)
    hand.key("n")
    seconds = _shown_alarm(hand)
    hand.key("t")
    return max(seconds, _shown_ticket(hand))


def stop_by_hand(hand: Hand, scene: Scene) -> float:
    """Choose the command, and answer the question; the driver of a vehicle that stands is not endangered."""
    # What stood at the beginning may drive now: of that more is asked.
    scene.await_vehicles()
    find_by_hand(hand, scene, scene.standing)
    hand.press(hand.page.get_by_role("complementary", name="Vehicle").get_by_role("link", name="Commands"))
    hand.press(hand.page.get_by_role("option", name=re.compile("^Stop the engine")))
    hand.press(hand.page.get_by_role("dialog").get_by_role("button", name="Stop the engine"))
    return hand.shown(hand.page.get_by_text("Handed to the vehicle").first)


def stop_by_keys(hand: Hand, scene: Scene) -> float:
    """The same on the vehicle."""
    scene.await_vehicles()
    find_by_keys(hand, scene, scene.standing)
    hand.acts = 0
    hand.key("c")
    hand.page.get_by_label("What should the vehicle do?").wait_for()
    hand.page.keyboard.type("stop the eng")
    hand.key("Enter")
    hand.page.get_by_role("dialog").get_by_role("button", name="Stop the engine").wait_for()
    hand.key("Enter")
    return hand.shown(hand.page.get_by_text("Handed to the vehicle").first)


def _await_alarm(hand: Hand, scene: Scene) -> None:
    """Let an alarm come while somebody looks at the fleet."""
    scene.add_vehicle(VAN)
    scene.report(VAN, *_PLACE)
    scene.open_fleet(hand, VAN)
    scene.report(VAN, *_PLACE, alarm=_ALARM)
    hand.page.get_by_role("alert").filter(has_text=_SAID).first.wait_for()


def _shown_alarm(hand: Hand) -> float:
    """Wait for the place on a map, and for the pictures."""
    page = hand.page
    return hand.shown(
        page.get_by_role("heading", name=re.compile("^Alarm")).first,
        page.get_by_role("button", name="Zoom in").first,
        page.get_by_text(_FILM).first,
    )


def _shown_ticket(hand: Hand) -> float:
    return hand.shown(hand.page.get_by_role("list", name=re.compile("Evidence of ticket")))
