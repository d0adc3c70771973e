"""Journey 23: a made-up language shows what is not translated or does not fit; each language fits a phone.

Also at four times the size (WCAG 2.2, 1.4.10).
"""

import re
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

import motorpool.api.console
from motorpool.bench.server import EMAIL

# Visible texts and labels without the brackets of the made-up language. Units, months, and the names of
# languages, zones and programs are the same there.
_UNTRANSLATED = r"""
(data) => {
  const found = new Set();
  const same = /\b(Motorpool|Deutsch|English|Español|Português \((?:Portugal|Brasil)\)|Chrome, Linux|US gal|imp gal|CSV|[kMG]?B|ms|km\/h|mph|kn|km|mi|nmi|ft|min|[mshdlVC]|UTC|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Mon|Tue|Wed|Thu|Fri|Sat|Sun|[A-Z][a-z]{2}(?= \d))(?!\w)/g;
  const add = (text) => {
    if (text.includes("⟦")) return;
    let rest = text;
    for (const each of data) rest = rest.replaceAll(each, "");
    if (/\p{L}/u.test(rest.replace(same, ""))) found.add(text.trim());
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (parent.closest("script, style, code, kbd, noscript, [translate=no]")) continue;
    // A text with names in it is in pieces.
    add(parent.querySelector(":scope > code") ? parent.textContent : walker.currentNode.data);
  }
  for (const name of ["aria-label", "placeholder", "title", "alt"]) {
    for (const each of document.querySelectorAll(`[${name}]`)) {
      if (!each.closest("[translate=no]")) add(each.getAttribute(name));
    }
  }
  return [...found];
}
"""  # noqa: E501 - a pattern cannot be broken


ROUTES = Path(motorpool.api.console.__file__).parent / "src" / "routes.ts"
LISTS = [
    place
    for place, rest in re.findall(r'{ pattern: "(/[^":]+)", (.*) }', ROUTES.read_text())
    if "open: true" not in rest
]
"""The places whose addresses name nothing."""
MORE = ("/reports/trips", "/reports/summary", "/reports/combined", "/admin/users/new", "/admin/links?id=1")

ZOOMED = {"width": 320, "height": 256}
"""A window of 1280 by 1024 pixels at four times the size."""
# What of the open dialog cannot be scrolled into view, or is under something else there.
_OUT_OF_REACH = """
() => {
  const dialog = document.querySelector("dialog[open]");
  const { left, top, right, bottom } = dialog.getBoundingClientRect();
  const found = left < 0 || top < 0 || right > innerWidth || bottom > innerHeight ? ["the dialog"] : [];
  for (const each of dialog.querySelectorAll("button, input, select, textarea, a[href]")) {
    if (!each.checkVisibility({ checkVisibilityCSS: true }) || each.disabled) continue;
    each.scrollIntoView({ block: "center" });
    const { left, top, width, height } = each.getBoundingClientRect();
    const at = document.elementFromPoint(left + width / 2, top + Math.min(height, innerHeight) / 2);
    if (!at || !(each.contains(at) || at.contains(each))) found.push(each.outerHTML.slice(0, 160));
  }
  return found;
}
"""

READER = {"name": "Reader", "email": "reader@example.org", "password": "parking garage 7"}
"""An administrator who reads what the browser wishes."""


@pytest.fixture(scope="module")
def fleet(server):
    """A vehicle that has reported, for a user who reads the made-up language, and one for `READER`."""
    with server.client() as client:
        assert client.post("/users", json={**READER, "administrator": True}).status_code == 200
        device = {"name": "0815", "uniqueId": "4711", "model": "2024"}
        made = client.post("/devices", json={**device, "attributes": {"sensorLimit.temp1.max": 8}})
        assert made.status_code == 200, made.text
        user = client.get("/session").json()
        user["attributes"]["language"] = "qps"
        assert client.put(f"/users/{user['id']}", json=user).status_code == 200
    at = {"id": "4711", "lat": 52.5, "lon": 13.4, "speed": 20, "altitude": 30, "batt": 80, "alarm": "sos"}
    at["temp1"] = 9.9
    sent = httpx.get(f"http://{server.host}:{server.osmand_port}/", params=at)
    assert sent.status_code == 200
    return made.json()["id"]


def look(guest):
    """Fail for what the page that is open says in another language, cuts off, or hides from some."""
    assert guest.page.evaluate(_UNTRANSLATED, [EMAIL, READER["email"], READER["name"]]) == []
    guest.assert_fits()
    if guest.page.viewport_size["width"] > 1000:
        # The colors are the same everywhere.
        guest.assert_accessible()


def open_settings(page):
    """Open all parts of the settings of the server."""
    expect(page.locator(".server-group")).not_to_have_count(0)
    page.locator(".server-group").evaluate_all("(parts) => { for (const each of parts) each.open = true; }")


def go(page, place):
    """Open a place as links do, without loading the page again."""
    page.evaluate(
        "(to) => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')); }", place
    )
    expect(page.locator("h1").first).to_be_attached()
    expect(page.locator(".place-skeleton, .skeleton")).to_have_count(0)
    if place == "/admin/server":
        open_settings(page)


def places_of(device):
    """The places whose addresses name nothing, and those of a vehicle."""
    vehicle = f"/vehicles/{device}"
    return (
        *LISTS,
        *MORE,
        vehicle,
        *(f"{vehicle}/{each}" for each in ("history", "events", "commands", "settings", "messages")),
        "/zones/new?kind=circle",
        "/connect?protocol=gt06",
    )


@pytest.mark.parametrize("width", [1400, 390])
def test_no_text_is_left_in_english_and_none_is_cut_off(server, visitor, fleet, width):
    guest = visitor(server, webgl=width > 1000, viewport={"width": width, "height": 844}, locale="pt-PT")
    page = guest.page

    guest.open("/fleet")
    expect(page.get_by_role("button", name="Entrar")).to_be_visible()
    page.get_by_label("E-mail").fill(EMAIL)
    page.get_by_label("Palavra-passe", exact=True).fill(server.password)
    page.get_by_role("button", name="Entrar").click()

    page.get_by_role("link", name="0815").click()
    expect(page.get_by_role("heading", name="0815")).to_be_visible()
    expect(page.locator(".values")).to_be_visible()
    look(guest)

    page.locator(".vehicle-acts > button").click()
    look(guest)
    page.get_by_role("menuitem").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    look(guest)
    page.keyboard.press("Escape")

    page.keyboard.press("c")
    page.get_by_role("option").first.click()
    expect(page.get_by_role("textbox")).to_be_focused()
    look(guest)

    guest.open("/events?type=alarm")
    page.get_by_role("listitem").get_by_role("link").first.click()
    expect(page.locator(".proof-values")).to_be_visible()
    look(guest)
    page.go_back()
    expect(page.locator(".inbox-row")).to_have_count(1)
    look(guest)

    # What is said on maps was seen.
    guest.draw_no_maps()
    guest.open(f"/vehicles/{fleet}/events")
    expect(page.locator(".event-row.warning")).to_have_count(1)
    look(guest)
    guest.open(f"/vehicles/{fleet}/settings")
    expect(page.locator(".settings input")).not_to_have_count(0)
    look(guest)

    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    look(guest)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    for address in ("/connect", "/connect?protocol=gt06"):
        guest.open(address)
        expect(page.locator(".connect input")).not_to_have_count(0)
        look(guest)

    guest.open("/admin/server")
    open_settings(page)
    look(guest)

    guest.open("/account")
    expect(page.locator(".records li")).not_to_have_count(0)
    look(guest)
    assert page.evaluate(_UNTRANSLATED, []) != []  # the name of the user

    for place in (*LISTS, *MORE):
        go(page, place)
        look(guest)


@pytest.mark.parametrize("locale", ["de-AT", "en-GB", "es-MX", "pt-PT", "pt-BR"])
def test_the_texts_of_each_language_fit_a_phone(server, visitor, fleet, locale):
    guest = visitor(server, webgl=False, viewport={"width": 390, "height": 844}, locale=locale)
    page = guest.page
    guest.open("/fleet")
    expect(page.locator(".login-card form")).to_be_visible()
    assert page.evaluate("() => document.documentElement.lang") == locale
    guest.assert_fits()

    form = {"email": READER["email"], "password": READER["password"]}
    assert guest.context.request.post(f"{server.url}/api/session", form=form).ok
    guest.open("/fleet")
    expect(page.locator(".frame")).to_be_visible()
    for place in places_of(fleet):
        go(page, place)
        guest.assert_fits()
    # The rail has more entries there.
    page.set_viewport_size({"width": 1400, "height": 900})
    guest.assert_fits()


@pytest.mark.parametrize("locale", ["de-AT", "en-GB"])
def test_every_place_is_used_at_four_times_the_size(server, visitor, fleet, locale):
    guest = visitor(server, webgl=False, viewport=ZOOMED, locale=locale)
    page = guest.page
    form = {"email": READER["email"], "password": READER["password"]}
    guest.open("/fleet")
    expect(page.locator(".login-card form")).to_be_visible()
    guest.assert_fits()
    assert guest.context.request.post(f"{server.url}/api/session", form=form).ok
    guest.open("/fleet")
    expect(page.locator(".frame")).to_be_visible()
    for place in places_of(fleet):
        go(page, place)
        guest.assert_fits()
        # Most of the window is left to the place.
        assert page.locator("main").bounding_box()["height"] > ZOOMED["height"] / 2, place


DIALOGS = {
    "/admin/drivers": "New driver",
    "/admin/notifications": "New notification",
    "/admin/orders": "New order",
    "/calendars": "New calendar",
    "/reports/scheduled": "Schedule a report",
    "/schedules": "New schedule",
}
"""Buttons that open dialogs."""


def test_dialogs_are_used_at_four_times_the_size(server, visitor, fleet):
    guest = visitor(server, webgl=False, viewport=ZOOMED, locale="en-GB")
    page = guest.page
    form = {"email": READER["email"], "password": READER["password"]}
    assert guest.context.request.post(f"{server.url}/api/session", form=form).ok
    guest.open("/fleet")
    expect(page.locator(".frame")).to_be_visible()
    for place, name in DIALOGS.items():
        go(page, place)
        page.get_by_role("button", name=name).first.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        guest.assert_fits()
        assert page.evaluate(_OUT_OF_REACH) == [], place
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
