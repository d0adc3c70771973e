"""Calendar, server, device: what a terminal is sent as a window opens and shuts, by the real clock."""

import base64
import time
from datetime import datetime, timedelta

from motorpool.bench.vehicles.jt808.platform_messages import GeneralResponse, TerminalControl
from motorpool.bench.vehicles.jt808.terminal import encode_location
from motorpool.runtime import SystemClock

CLOCK = SystemClock()
STOP, RESUME, POSITION = 0x64, 0x65, 0x8201


def calendar_of(client, start, end, number=0):
    """A calendar with one window; its id."""
    text = (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:1\r\n"
        f"DTSTART:{start:%Y%m%dT%H%M%SZ}\r\nDTEND:{end:%Y%m%dT%H%M%SZ}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
    body = {"id": number, "name": "night", "data": base64.b64encode(text.encode()).decode()}
    answer = client.put(f"/calendars/{number}", json=body) if number else client.post("/calendars", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def saved(client, kind, **attributes):
    body = {"description": kind, "type": kind, "attributes": attributes}
    return client.post("/commands", json=body).json()["id"]


def schedule(client, calendar_id, start=(), end=(), *, devices=(), groups=(), **attributes):
    body = {
        "name": "immobilise at night",
        "calendarId": calendar_id,
        "active": True,
        "onStart": [{"commandId": command, "delaySeconds": delay} for command, delay in start],
        "onEnd": [{"commandId": command, "delaySeconds": delay} for command, delay in end],
        "attributes": attributes,
    }
    made = client.post("/scheduledcommands", json=body)
    assert made.status_code == 200, made.text
    number = made.json()["id"]
    # Owner first, in separate requests (specification, Scheduled commands, create rule 3).
    for key, ids in (("deviceId", devices), ("groupId", groups)):
        links = [{key: each, "scheduledCommandId": number} for each in ids]
        if links:
            assert client.post("/permissions/bulk", json=links).status_code == 204
    return number


def device_of(client, phone, **fields):
    body = {"name": phone, "uniqueId": phone, **fields}
    return client.post("/devices", json=body).json()["id"]


def history(client, number, **query):
    """Oldest first: phase, device, command, status or its reason."""
    answer = client.get(f"/scheduledcommands/{number}/runs", params=query)
    assert answer.status_code == 200, answer.text
    return [
        (run["phase"], run["deviceId"], run["commandId"], run["reason"] or run["status"])
        for run in reversed(answer.json())
    ]


def orders(peer, count, seconds=40.0):
    """The next orders that the terminal is sent: a number of its control message, or a message id."""
    found = []

    def note(message):
        if isinstance(message, TerminalControl):
            found.append(message.command)
        elif message.message_id == POSITION:
            found.append(POSITION)
        return len(found) >= count

    peer.messages(note, seconds)
    return found


def soon(seconds):
    """A whole second at least so far ahead."""
    return CLOCK.now().replace(microsecond=0) + timedelta(seconds=seconds + 1)


def test_a_window_opens_and_shuts_over_terminals_that_are_there_and_one_that_comes_later(
    server, connected, eventually
):
    with server.client() as client:
        stop, resume = saved(client, "engineStop"), saved(client, "engineResume")
        ask = saved(client, "positionSingle")
        group = client.post("/groups", json={"name": "depot"}).json()["id"]
        below = client.post("/groups", json={"name": "yard", "groupId": group}).json()["id"]
        linked, grouped = device_of(client, "13955500001"), device_of(client, "13955500002", groupId=below)
        away = device_of(client, "13955500003")
        with connected(server, "13955500003"):
            pass  # from now on it is known what it understands
        with connected(server, "13955500001") as first, connected(server, "13955500002") as second:
            opens = soon(2)
            number = schedule(
                client,
                calendar_of(client, opens, opens + timedelta(seconds=4)),
                start=[(stop, 0), (ask, 1)],
                end=[(resume, 0)],
                devices=[linked, away],
                groups=[group],
                queueMaxMinutes=60,
            )
            shown = client.get(f"/scheduledcommands/{number}").json()
            assert (shown["deviceIds"], shown["groupIds"]) == ([linked, away], [group])
            assert shown["lastRun"] is None
            for peer in (first, second):
                assert orders(peer, 2) == [STOP, POSITION]
            assert CLOCK.now() - opens >= timedelta(seconds=1)
            # The away one waits with both steps; the end of the window takes their place.
            eventually(lambda: ("start", away, ask, "queued") in history(client, number))
            assert ("start", away, stop, "queued") in history(client, number)
            for peer in (first, second):
                assert orders(peer, 1) == [RESUME]
        eventually(lambda: ("end", away, resume, "queued") in history(client, number))
        assert ("start", away, stop, "superseded") in history(client, number)
        with connected(server, "13955500003", sign_in=False) as third:
            third.send(third.terminal.register())
            assert orders(third, 1) == [RESUME]
            eventually(lambda: ("end", away, resume, "delivered") in history(client, number))
        expected = {
            *((phase, device, command, "sent") for device in (linked, grouped)
              for phase, command in (("start", stop), ("start", ask), ("end", resume))),
            ("start", away, stop, "superseded"),
            ("start", away, ask, "superseded"),
            ("end", away, resume, "delivered"),
        }  # fmt: skip
        assert set(history(client, number)) == expected
        assert set(history(client, number, deviceId=away)) == {each for each in expected if each[1] == away}
        shown = client.get(f"/scheduledcommands/{number}").json()
        assert datetime.fromisoformat(shown["lastRun"]) >= opens


def test_run_now_deactivate_and_a_calendar_that_changes(server, connected, eventually):
    with server.client() as client, connected(server, "13955500010") as peer:
        (device,) = (each["id"] for each in client.get("/devices", params={"uniqueId": "13955500010"}).json())
        stop, resume = saved(client, "engineStop"), saved(client, "engineResume")
        calendar = calendar_of(client, soon(3600), soon(7200))
        number = schedule(
            client, calendar, start=[(stop, 0), (resume, 600)], end=[(resume, 0)], devices=[device]
        )
        made = client.post(f"/scheduledcommands/{number}/run")
        assert made.status_code == 200, made.text
        assert [(run["phase"], run["status"]) for run in made.json()] == [
            ("manual", "sent"), ("manual", "pending"),
        ]  # fmt: skip
        assert orders(peer, 1) == [STOP]
        # What is pending is not in the history, and ends with the schedule's activity.
        assert history(client, number) == [("manual", device, stop, "sent")]
        body = client.get(f"/scheduledcommands/{number}").json()
        assert client.put(f"/scheduledcommands/{number}", json=body | {"active": False}).status_code == 200
        assert ("manual", device, resume, "schedule_inactive") in history(client, number)
        made = client.post(f"/scheduledcommands/{number}/run", json={"phase": "end"})
        assert [(run["commandId"], run["status"]) for run in made.json()] == [(resume, "sent")]
        assert orders(peer, 1) == [RESUME]
        # Active again, and its calendar opens sooner than it did.
        assert client.put(f"/scheduledcommands/{number}", json=body).status_code == 200
        opens = soon(1)
        calendar_of(client, opens, opens + timedelta(hours=1), calendar)
        assert orders(peer, 1) == [STOP]
        assert CLOCK.now() >= opens
        assert client.delete(f"/calendars/{calendar}").status_code == 400
        assert client.delete(f"/scheduledcommands/{number}").status_code == 204
        assert client.get(f"/scheduledcommands/{number}/runs").status_code == 404


def test_a_killed_server_sends_nothing_twice_and_leaves_nothing_open(
    start_server, database_url, tmp_path, connected, eventually
):
    settings = {"MOTORPOOL_DATABASE": database_url, "MOTORPOOL_DATA": str(tmp_path / "data")}
    phone = "13955500020"
    with start_server(settings) as server:
        password = server.password
        with server.client() as client, connected(server, phone) as peer:
            (device,) = (each["id"] for each in client.get("/devices").json())
            stop, resume = saved(client, "engineStop"), saved(client, "engineResume")
            opens = soon(1)
            calendar = calendar_of(client, opens, opens + timedelta(seconds=4))
            to_device = {"devices": [device], "queueMaxMinutes": 5}
            # The end of its window sends nothing, so the second step is sent after it.
            number = schedule(client, calendar, start=[(stop, 0), (resume, 7)], **to_device)
            at_end = schedule(client, calendar, end=[(resume, 0)], **to_device)
            assert orders(peer, 1) == [STOP]
            eventually(lambda: history(client, number) == [("start", device, stop, "sent")])
            # After the restart its protocol is that of its latest position.
            peer.send(peer.terminal.location(encode_location(52.5, 13.4, CLOCK.now())))
            peer.messages(lambda message: isinstance(message, GeneralResponse))
        server.process.kill()
        server.process.wait()
    time.sleep(max(0.0, (opens + timedelta(seconds=5) - CLOCK.now()).total_seconds()))
    with start_server(settings) as server:
        server.password = password
        with server.client() as client:
            # The window shut while there was no server: late by less than five minutes, it is queued now.
            eventually(lambda: history(client, at_end) == [("end", device, resume, "queued")])
            with connected(server, phone, sign_in=False) as peer:
                peer.send(peer.terminal.register())
                assert orders(peer, 2) == [RESUME, RESUME]
            eventually(lambda: history(client, at_end) == [("end", device, resume, "delivered")])
            # A step is recorded when its outcome is known.
            eventually(lambda: len(history(client, number)) == 2)
            (first, second) = history(client, number)
            assert first == ("start", device, stop, "sent")
            assert second[:3] == ("start", device, resume)
            # Before or after the terminal came back.
            assert second[3] in {"sent", "delivered"}
