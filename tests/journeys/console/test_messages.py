"""A GT06 tracker sends, and its message is explained to who watches (docs/console.md#messages)."""

import socket

from playwright.sync_api import expect

from motorpool.codecs.devices import CODECS

IMEI = "353358017784062"
LOGIN = bytes.fromhex("78780d01035335801778406200015e940d0a")
ALARM = bytes.fromhex("787825261803050e161fc9026bfd1c0c38f1242f145c0901cc00287d001fb846060402020006491f0d0a")


def test_the_message_of_a_tracker_is_explained_hex_beside_meaning(server, visitor):
    with server.client() as client:
        made = client.post("/devices", json={"name": "Van 35", "uniqueId": IMEI}).json()
    guest = visitor(server, webgl=False, viewport={"width": 390, "height": 844})
    page = guest.page
    guest.log_in(f"/vehicles/{made['id']}/settings")
    page.get_by_role("link", name="Messages").click()
    expect(page.get_by_text("Waiting for messages")).to_be_visible()
    with socket.create_connection((server.host, CODECS["gt06"].port + server.offset)) as tracker:
        tracker.sendall(LOGIN)
        assert tracker.recv(100)
        tracker.sendall(ALARM)
        messages = page.get_by_role("list", name="Messages of Van 35")
        message = messages.get_by_role("button", name="78 78 25 26")
        message.click()
        table = messages.get_by_role("table")
        # The process that explains gives way to all others.
        expect(table).to_contain_text("Latitude 22.573100°", timeout=60_000)
        expect(table).to_contain_text("Check value")
        expect(messages.get_by_role("button", name="To the device").first).to_be_visible()
    guest.assert_fits()
    guest.assert_accessible()
