"""What is done at places of the console before docs/pictures.py takes their pictures."""

import re
from collections.abc import Callable, Mapping

from playwright.sync_api import Page

__all__ = ["ACTS"]


def fetch_film(page: Page) -> None:
    """Fetch the film around the cursor."""
    page.get_by_role("button", name="Fetch video").first.click()
    # The button may lie below the player.
    page.locator("video").first.scroll_into_view_if_needed()


def find_acts(page: Page) -> None:
    """Search everything."""
    page.get_by_role("link", name="Events").first.wait_for()
    page.keyboard.press("Control+k")
    page.keyboard.type("van live")


def show_keys(page: Page) -> None:
    """Show the keys."""
    page.get_by_role("link", name="Events").first.wait_for()
    page.keyboard.press("?")


def fold_sheet(page: Page) -> None:
    """Make the sheet of a phone larger."""
    handle = page.locator(".sheet-handle")
    if handle.is_visible():
        handle.tap()


def show_more(page: Page) -> None:
    """Show the places for which the bar of a phone has no room."""
    more = page.get_by_role("button", name="More", exact=True)
    page.get_by_role("link", name="Events").first.wait_for()
    if more.is_visible():
        more.tap()


def choose_layer(page: Page) -> None:
    """Show what the map can show."""
    page.get_by_role("button", name="Kind of map").click()


def open_item(page: Page) -> None:
    """Open the first of the library."""
    page.locator(".library-day button").first.click()


def open_menu(page: Page) -> None:
    """Show what can be done with a vehicle."""
    page.get_by_role("button", name="What to do with").nth(2).click()


def ask_who(page: Page) -> None:
    """Ask which vehicles were at the middle of the map."""
    page.get_by_role("button", name="Zoom in").wait_for()
    # The map turns to the vehicles before it takes a click.
    page.wait_for_timeout(2000)
    box = page.locator(".list-stage").bounding_box()
    if box is None:
        return
    x, y = box["x"] + box["width"] * 0.75, box["y"] + box["height"] * 0.15
    page.mouse.click(x, y, button="right")
    page.get_by_role("menuitem", name="What is here").click()
    page.get_by_role("button", name="Who was here?").click()


def share(page: Page) -> None:
    """Make a link of a vehicle."""
    page.get_by_role("button", name=re.compile("^More: ")).click()
    page.get_by_role("menuitem", name="Share").click()
    page.get_by_role("button", name="Make a link").click()


def ask_first(page: Page) -> None:
    """Choose a command that asks first."""
    page.get_by_label("What should the vehicle do?").fill("stop the engine")
    page.keyboard.press("Enter")


def choose_ticket(page: Page) -> None:
    """Choose a ticket for the proof of an event."""
    page.get_by_role("button", name="Attach to ticket").first.click()


def set_notices(page: Page) -> None:
    """Choose which events are announced."""
    page.get_by_role("button", name="Notices").click()


def set_up(page: Page) -> None:
    """Choose a tracker to be connected."""
    page.get_by_role("link", name="GT06").click()


def lose(page: Page) -> None:
    """Cut the line to the server. A socket that is open is not cut with it."""
    page.route_web_socket("**/api/socket", lambda route: route.close())
    page.reload()
    page.get_by_role("link", name="Events").first.wait_for()
    page.context.set_offline(True)
    page.wait_for_timeout(8000)


def fail_login(page: Page) -> None:
    """Log in with a wrong password."""
    page.get_by_label("E-mail").fill("ana@example.org")
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Log in").click()


ACTS: Mapping[str, Callable[[Page], None]] = {
    "film": fetch_film,
    "cameras": fetch_film,
    "search": find_acts,
    "keys": show_keys,
    "sheet": fold_sheet,
    "menu": open_menu,
    "more": show_more,
    "layers": choose_layer,
    "library-item": open_item,
    "who": ask_who,
    "share-link": share,
    "question": ask_first,
    "attach": choose_ticket,
    "notices": set_notices,
    "connect-set-up": set_up,
    "lost": lose,
    "login-refused": fail_login,
}
"""By the names of places in docs/pictures.py."""
