"""What must not work, tried over HTTP; what belongs to one resource alone is tried beside its other tests."""

import base64
import json
import logging
import re
from datetime import timedelta

import httpx
import pyotp
import pytest
import trio
import trio.testing
import trio_websocket

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import LinkChanged
from motorpool.actors.video.snapshot import SnapshotImage
from motorpool.api.auth.tokens import RESET, issue
from motorpool.api.engine.examples import BODIES
from motorpool.api.login_settings import LoginSettings
from motorpool.api.resources import OPERATIONS
from motorpool.api.settings import HttpSettings
from motorpool.storage.accounts import links

NOON, LATER = "2026-05-01T12:00:00Z", "2026-05-01T13:00:00Z"
SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
FOREIGN = {"Origin": "https://evil.example.org"}


def basic(name, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()}


def filled(operation, number=1):
    """A path of an operation, with numbers and names in the braces."""
    words = {"path": "x", "file": "x", "type": "xlsx"}
    return re.sub(r"\{(\w+)\}", lambda found: words.get(found[1], str(number)), operation.plain_path)


async def shake_hands(port, query, *lines):
    """Ask for the socket; the status of the answer."""
    head = [
        f"GET /api/socket{query} HTTP/1.1",
        "Host: 127.0.0.1",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        *lines,
    ]
    answer = b""
    with trio.fail_after(120):
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            await stream.send_all("\r\n".join([*head, "", ""]).encode())
            while b"\r\n" not in answer:
                answer += await stream.receive_some()
    return int(answer.split()[1])


PROTECTED = [each for each in OPERATIONS if not each.public and each.path != "/server/reboot"]


async def test_a_page_elsewhere_can_do_nothing_with_the_cookie_of_who_looks_at_it(served):
    cookie = f"JSESSIONID={served.cookie(served.admin)}"
    for origin in ("https://evil.example.org", "null", "http://localhost.evil.example.org", "http://["):
        for operation in PROTECTED:
            page = served.client({"Cookie": cookie, "Origin": origin})
            answer = await page.call(operation.method, f"/api{filled(operation)}", json={})
            # What changes something is refused whoever sends it (tests/api/logins/test_pages.py).
            changes = operation.method != "GET" or operation.changes is True
            assert answer.status == (403 if changes else 401), (
                f"{operation.method} {operation.path} from {origin}"
            )
            assert answer.headers.get("Access-Control-Allow-Origin") is None
    assert (await served.client({"Cookie": cookie}).get("/users/1")).status == 200


async def test_a_page_elsewhere_cannot_read_what_basic_or_the_socket_would_show(starting):
    async with starting(listen=True) as served:
        shown = await served.client({**basic("admin@example.org", "admin"), **FOREIGN}).get("/users/1")
        # Who knows the password is no page that happens to be open; but no browser hands it the answer.
        assert (shown.status, shown.headers.get("Access-Control-Allow-Origin")) == (200, None)
        cookie = f"Cookie: JSESSIONID={served.cookie(served.admin)}"
        assert await shake_hands(served.port, "", cookie) == 101
        assert await shake_hands(served.port, "", cookie, "Origin: https://evil.example.org") == 401
        assert await shake_hands(served.port, "", cookie, "Origin: null") == 401
        assert await shake_hands(served.port, "", cookie, "Origin: http://[") == 401


async def test_the_cookie_stays_at_home_and_out_of_scripts(served):
    answer = await served.client().post("/session", form={"email": "admin@example.org", "password": "admin"})
    flags = {flag.strip().lower() for flag in answer.headers["Set-Cookie"].split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= flags
    assert not any(flag.startswith("domain") for flag in flags)


async def test_a_cookie_planted_before_the_login_opens_nothing_after_it(served):
    planted = "x" * 43
    victim = served.client({"Cookie": f"JSESSIONID={planted}"})
    answer = await victim.post("/session", form={"email": "admin@example.org", "password": "admin"})
    assert answer.status == 200
    assert planted not in answer.headers["Set-Cookie"]
    assert (await served.client({"Cookie": f"JSESSIONID={planted}"}).get("/session")).status == 404


@pytest.mark.parametrize("way", ["form", "basic"])
async def test_guesses_at_the_same_time_are_no_way_around_the_limit(starting, way):
    login = LoginSettings(hash_memory_kib=8192, hash_rounds=1, failures_per_account=4, hashes_at_once=4)
    async with starting(login=login) as served:
        answers = []

        async def guess(number):
            client = served.client()
            if way == "form":
                form = {"email": "admin@example.org", "password": f"wrong {number}"}
                answers.append(await client.post("/session", form=form))
            else:
                headers = basic("admin@example.org", f"wrong {number}")
                answers.append(await client.get("/devices", headers=headers))

        async with trio.open_nursery() as nursery:
            for number in range(30):
                nursery.start_soon(guess, number)
        statuses = [answer.status for answer in answers]
        assert (statuses.count(401), statuses.count(429)) == (4, 26)
        assert all(int(answer.headers["Retry-After"]) > 0 for answer in answers if answer.status == 429)
        # The right one has to wait as well: an answer would tell that it was right.
        right = await served.client().get("/devices", headers=basic("admin@example.org", "not yet seen"))
        assert right.status == 429
        # Who was logged in before is not locked out by who guesses.
        assert (await served.admin.get("/devices")).status == 200


async def test_a_success_takes_back_what_failed_before(starting):
    login = LoginSettings(hash_memory_kib=8192, hash_rounds=1, failures_per_account=3)
    async with starting(login=login) as served:
        for _ in range(3):
            for word in ("wrong", "wrong", "admin"):
                form = {"email": "admin@example.org", "password": word}
                answer = await served.client().post("/session", form=form)
                assert answer.status == (200 if word == "admin" else 401)


async def test_a_token_is_good_for_its_purpose_and_no_other(starting):
    async with starting(listen=True) as served:
        ann = await served.user("ann", deviceLimit=-1)
        van = await served.device(ann, "1")
        until = (served.clock.now() + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
        session = (await ann.post("/session/token")).text
        share = (await ann.post("/share/device", form={"deviceId": str(van), "expiration": until})).text
        reset, _ = issue(
            served.context.logins.token_keys,
            ann.id,
            RESET,
            served.clock.now() + timedelta(hours=1),
            now=served.clock.now(),
        )

        async def tried(token):
            client = served.client({"Authorization": f"Bearer {token}"})
            found = [(await client.get("/devices")).status]
            found.append((await served.client().get(f"/session?token={token}")).status)
            form = {"token": token}
            found.append((await served.client().post("/session/token/login", form=form)).status)
            found.append(await shake_hands(served.port, f"?token={token}"))
            form = {"token": token, "password": "new"}
            found.append((await served.client().post("/password/update", form=form)).status)
            return found

        with trio.fail_after(120):
            # Bearer, GET /session?token=, /session/token/login, socket, /password/update
            assert await tried(session) == [200, 200, 200, 101, 400]
            assert await tried(share) == [200, 200, 200, 101, 400]
            assert await tried(reset) == [401, 404, 404, 401, 200]


async def test_what_was_ended_stays_ended_when_the_server_starts_again(starting, database):
    async with starting() as served:
        ann = await served.user("ann")
        cookie = served.cookie(ann)
        revoked, changed, good = [(await ann.post("/session/token")).text for _ in range(3)]
        assert (await ann.post("/session/token/revoke", form={"token": revoked})).status == 204
        bob = await served.user("bob")
        old = (await bob.post("/session/token")).text
        served.clock.move_wall(1)
        body = {**(await served.admin.get(f"/users/{bob.id}")).json(), "password": "new"}
        assert (await served.admin.put(f"/users/{bob.id}", json=body)).status == 200
        # So that the second start can make its administrator again.
        await database.execute("delete from users where email = 'admin@example.org'")
        await database.execute("update server set registration = true")
    async with starting() as again:
        assert (await again.client({"Authorization": f"Bearer {good}"}).get("/devices")).status == 200
        assert (await again.client({"Cookie": f"JSESSIONID={cookie}"}).get("/devices")).status == 200
        for token in (revoked, old):
            assert (await again.client({"Authorization": f"Bearer {token}"}).get("/devices")).status == 401
        bobs = {"Cookie": f"JSESSIONID={served.cookie(bob)}"}
        assert (await again.client(bobs).get("/devices")).status == 401
        # And nobody can take a token back to life, or make one of his own.
        # Not its last characters, of which some bits say nothing.
        other = "B" if changed[-10] == "A" else "A"
        forged = f"{changed[:-10]}{other}{changed[-9:]}"
        assert (await again.client({"Authorization": f"Bearer {forged}"}).get("/devices")).status == 401


SECRET = "hush-6f1e"
TOTP = pyotp.random_base32()
WEBHOOK = {"url": "https://hooks.example.org", "secret": f"{SECRET}-webhook"}
HELD = {
    "mail.smtp.host": "mail.example.org",
    "mail.smtp.password": f"{SECRET}-smtp",
    "ticketWebhook": WEBHOOK,
}


async def test_no_secret_is_in_any_answer_or_log(starting, caplog):
    caplog.set_level(logging.DEBUG)
    # The client of this test, which tells what it sends.
    caplog.set_level(logging.WARNING, logger="trio-websocket")
    async with starting(listen=True) as served:
        answers = []

        async def sent(client, method, path, **more):
            answer = await client.call(method, f"/api{path}", **more)
            # Files need not be text.
            content = answer.body.decode(errors="replace")
            answers.append(f"{method} {path} {answer.status} {answer.headers} {content}")
            return answer

        admin = served.client(basic("admin@example.org", "admin"))
        person = {
            "name": "ann",
            "email": "ann@example.org",
            "password": f"{SECRET}-password",
            "deviceLimit": -1,
        }
        made = await sent(admin, "POST", "/users", json={**person, "attributes": HELD})
        assert made.json()["attributes"]["mail.smtp.password"] == "********"
        ann = served.client(basic("ann@example.org", f"{SECRET}-password"))
        body = {**made.json(), "phone": "1"}
        assert (await sent(ann, "PUT", f"/users/{body['id']}", json=body)).status == 200
        kept = await served.context.database.fetch_value(
            "select attributes->>'mail.smtp.password' from users where id = $1", body["id"]
        )
        assert kept == f"{SECRET}-smtp"
        settings = (await sent(admin, "GET", "/server")).json()
        await sent(admin, "PUT", "/server", json={**settings, "attributes": HELD})
        things = {
            "devices": {"name": "x", "uniqueId": "x"},
            "groups": {"name": "x"},
            "geofences": {"name": "x", "area": "CIRCLE (1 2, 3)"},
            "drivers": {"name": "x", "uniqueId": "x"},
            "maintenance": {"name": "x", "type": "hours"},
            "orders": {"description": "x"},
            "notifications": {"type": "alarm", "web": True},
            "commands": {"type": "custom"},
            "calendars": BODIES["createCalendar"],
            "scheduledcommands": {"name": "x"},
            "branches": {"name": "x"},
            "teams": {"name": "x"},
            "contacts": {"name": "x"},
            "ticketcategories": {"name": "x"},
            "ticketpriorities": {"name": "x", "level": 1},
            "ticketstatuses": {"name": "x", "kind": "new"},
        }
        ids = {"users": body["id"], "session": body["id"]}
        # Its managers see the secrets of its webhook: tests/api/resources/helpdesk/test_companies.py.
        ids["companies"] = (await sent(ann, "POST", "/companies", json={"name": "x"})).json()["id"]
        below_company = {
            path for path in things if path in {"branches", "teams", "contacts"} or "ticket" in path
        }
        for path, fields in things.items():
            thing = {**fields, "attributes": HELD}
            if path in below_company:
                thing["companyId"] = ids["companies"]
            if path == "scheduledcommands":
                thing |= {"calendarId": ids["calendars"], "onStart": [{"commandId": ids["commands"]}]}
            answer = await sent(ann, "POST", f"/{path}", json=thing)
            assert answer.status == 200, answer.text
            ids[path] = answer.json()["id"]
            again = await sent(ann, "PUT", f"/{path}/{ids[path]}", json=answer.json())
            assert again.json()["attributes"] == {
                "mail.smtp.host": "mail.example.org",
                "mail.smtp.password": "********",
                "ticketWebhook": {"url": "https://hooks.example.org", "secret": "********"},
            }
        # Attributes of tickets are copied into their history; the server finds no secrets in them.
        ticket = {"subject": "x", "companyId": ids["companies"]}
        ids["tickets"] = (await sent(ann, "POST", "/tickets", json=ticket)).json()["id"]
        driven = {"deviceId": ids["devices"], "driverId": ids["drivers"], "startTime": NOON, "endTime": LATER}
        ids["driverassignments"] = (await sent(ann, "POST", "/driverassignments", json=driven)).json()["id"]
        # What is refused is not repeated either.
        await sent(ann, "POST", "/devices", json={"name": 5, "uniqueId": SECRET, "password": SECRET})
        await sent(served.client(), "POST", "/session", form={"email": "ann@example.org", "password": SECRET})
        await sent(ann, "PUT", f"/users/{body['id']}", json={**body, "totpKey": f"{SECRET}!"})
        await sent(ann, "POST", "/session/token/revoke", form={"token": SECRET})
        await sent(admin, "PUT", f"/users/{body['id']}", json={**body, "totpKey": TOTP})
        form = {"email": "ann@example.org", "password": f"{SECRET}-password"}
        form["code"] = pyotp.TOTP(TOTP).at(served.clock.now())
        await sent(ann := served.client(), "POST", "/session", form=form)
        token = (await ann.post("/session/token")).text
        await sent(served.client(), "GET", f"/session?token={token}x")
        # With a key of her own Ann comes by a token from here on.
        bearer = served.client({"Authorization": f"Bearer {token}"})
        (stored,) = await served.report(served.position(ids["devices"]))
        wide = f"{SPAN}&deviceId={ids['devices']}&latitude=1&longitude=2"
        seen = {}
        for operation in OPERATIONS:
            if operation.method == "GET":
                family = operation.plain_path.split("/")[1]
                path = filled(operation, ids.get(family, ids["devices"]))
                for client in (bearer, admin):
                    for query in ("", f"?{wide}", "?all=true", f"?id={stored.id}"):
                        seen[operation.plain_path] = min(
                            (await sent(client, "GET", f"{path}{query}")).status,
                            seen.get(operation.plain_path, 600),
                        )
        assert {path for path, status in seen.items() if status >= 400} == {
            "/session/openid/auth",
            "/session/openid/callback",
            "/permissions",
            "/permissions/inherited",
            "/attributes/computed/{id}",
            "/events/{id}",
            "/events/{id}/evidence",
            "/events/{id}/evidence.zip",
            "/media/{uniqueId}/{file}",
            "/media/{uniqueId}/{file}/film",
            "/media/{uniqueId}/{file}/picture",
            "/places",
            "/server/backup",
            "/server/geocode",
            "/stream/{deviceId}/{channel}/{index}.ts",
            "/stream/{deviceId}/{channel}/{index}.{part}.ts",
            "/stream/{deviceId}/{channel}/playback/{index}.ts",
            "/stream/{deviceId}/{channel}/snapshot.jpg",
            "/stream/{deviceId}/{channel}/talk",
            "/captures/{id}",
            "/footagerequests/{id}",
            "/reports/{id}",
        }
        address = f"ws://127.0.0.1:{served.port}/api/socket?token={token}"
        with trio.fail_after(120):
            async with trio_websocket.open_websocket_url(address) as live:
                answers.append(await live.get_message())
                device = (await bearer.get(f"/devices/{ids['devices']}")).json()
                await bearer.put(f"/devices/{ids['devices']}", json={**device, "name": "new"})
                await served.report(served.position(ids["devices"], served.clock.now()))
                while "devices" not in json.loads(answers[-1]):
                    answers.append(await live.get_message())
        assert answers[-1].count("********") == 2
        hidden = (SECRET, TOTP, token, "$argon2", served.context.logins.token_keys.current.hex())
        for text in (*answers, caplog.text):
            for secret in hidden:
                assert secret not in text.replace(f"?token={token}x", ""), text[:200]


async def test_every_kind_of_answer_carries_the_security_headers(served):
    anybody = served.client()
    for method, path in (
        ("GET", "/"),
        ("GET", "/console/console.css"),
        ("GET", "/nothing.js"),
        ("GET", "/api/server"),
        ("GET", "/api/devices"),
        ("GET", "/api/nothing"),
        ("PATCH", "/api/devices"),
        ("OPTIONS", "/api/devices"),
        ("HEAD", "/api/server"),
    ):
        answer = await anybody.call(method, path)
        assert answer.headers["X-Content-Type-Options"] == "nosniff", path
        assert answer.headers["X-Frame-Options"] == "SAMEORIGIN", path
        policy = "no-referrer" if path.startswith("/api/") else "same-origin"
        assert answer.headers["Referrer-Policy"] == policy, path
        assert "Server" not in answer.headers
    page = await anybody.call("GET", "/")
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert "unsafe" not in page.headers["Content-Security-Policy"]


async def test_a_preflight_is_answered_by_the_setting_without_login(starting):
    asked = {
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    async with starting(http=HttpSettings(cors_origin="https://fleet.example.org")) as served:
        good = {"Origin": "https://fleet.example.org", **asked}
        answer = await served.client().call("OPTIONS", "/api/devices/1", headers=good)
        assert answer.status == 200
        assert answer.headers["Access-Control-Allow-Origin"] == "https://fleet.example.org"
        assert "PUT" in answer.headers["Access-Control-Allow-Methods"]
        assert "authorization" in answer.headers["Access-Control-Allow-Headers"]
        assert "if-match" in answer.headers["Access-Control-Allow-Headers"]
        assert "ETag" in answer.headers["Access-Control-Expose-Headers"]
        bad = await served.client().call("OPTIONS", "/api/devices/1", headers={**FOREIGN, **asked})
        assert bad.headers.get("Access-Control-Allow-Origin") is None


async def test_a_wrong_method_says_which_are_right_and_unknown_paths_are_404(served):
    patched = await served.admin.call("PATCH", "/api/devices/1", json={})
    assert patched.status == 405
    assert {"GET", "PUT", "DELETE"} <= {word.strip() for word in patched.headers["Allow"].split(",")}
    assert (await served.client().call("DELETE", "/api/server")).status == 405
    for path in ("/api", "/api/", "/api/nothing", "/api/devices/", "/api//devices", "/API/devices"):
        assert (await served.admin.call("GET", path)).status == 404, path


async def test_head_is_get_without_its_body(starting):
    async with starting(listen=True) as served, httpx.AsyncClient(trust_env=False) as client:
        base = f"http://127.0.0.1:{served.port}"
        for path in ("/", "/api/server", "/api/health"):
            got, head = await client.get(base + path), await client.head(base + path)
            assert (head.status_code, head.content) == (got.status_code, b"")
            assert head.headers["Content-Type"] == got.headers["Content-Type"]
        assert (await client.head(f"{base}/api/devices")).status_code == 401
        # The connection is still in step.
        assert (await client.get(f"{base}/api/health")).text == "OK"


async def test_a_link_of_another_site_changes_nothing(served):
    """Browsers send the cookie with it, since it is a GET."""
    ann = await served.user("ann")
    van = await served.device(served.admin, "1")
    token = (await served.admin.post("/session/token")).text
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    for path in (
        f"/session?token={token}",
        f"/session/{ann.id}",
        f"/stream/{van}/1/live.m3u8",
        f"/stream/{van}/1/snapshot.jpg",
        "/server/gc",
    ):
        answer = await served.admin.get(path, headers=elsewhere)
        assert (answer.status, answer.text) == (403, "a page of another site may not do this"), path
    assert (await served.admin.get("/session")).json()["id"] == served.admin_id
    assert (await served.admin.get("/session", headers=elsewhere)).status == 200
    beside = {"Sec-Fetch-Site": "same-site"}
    assert (await served.admin.get(f"/session/{ann.id}", headers=beside)).status == 403
    own = {"Sec-Fetch-Site": "same-origin"}
    assert (await served.admin.get(f"/session/{ann.id}", headers=own)).status == 200
    bearer = {**elsewhere, "Authorization": f"Bearer {token}"}
    assert (await served.client().get(f"/stream/{van}/1/live.m3u8", headers=bearer)).status == 200


async def test_a_page_of_an_allowed_origin_is_no_other_site(starting):
    async with starting(http=HttpSettings(cors_origin="https://fleet.example")) as served:
        token = (await served.admin.post("/session/token")).text
        for origin, status in (("https://fleet.example", 200), ("https://evil.example", 403)):
            headers = {"Sec-Fetch-Site": "cross-site", "Origin": origin}
            assert (await served.client().get(f"/session?token={token}", headers=headers)).status == status


async def test_rights_that_end_while_an_answer_is_awaited_are_not_used(served, monkeypatch):
    ann = await served.user("ann", deviceLimit=-1)
    van = await served.device(ann, "1")
    path = f"/stream/{van}/1/snapshot.jpg"

    async def taken(*_):
        await links.remove_many(served.context.database, links.USER_DEVICE, [(ann.id, van)])
        await publish_changes(served.context.system, LinkChanged("user", ann.id, "device", van))
        return SnapshotImage(b"jpeg", served.clock.now())

    monkeypatch.setattr("motorpool.api.resources.streams.read_snapshot", taken)
    answer = await ann.get(path)
    assert (answer.status, answer.text) == (404, "no such device")
