import base64
import os
import sys
from datetime import timedelta
from urllib.parse import quote

import pyotp
import trio

from motorpool.api.auth.accounts import MAX_AGE_SECONDS
from motorpool.api.login_settings import LoginSettings
from motorpool.api.settings import HttpSettings, Settings


def basic(email: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{email}:{password}".encode()).decode()}


async def test_login_answers_the_user_and_sets_a_cookie_that_scripts_cannot_read(served):
    client = served.client()
    answer = await client.post("/session", form={"email": " ADMIN@example.org ", "password": "admin"})
    assert answer.status == 200
    assert answer.json()["email"] == "admin@example.org"
    assert answer.json()["administrator"] is True
    assert answer.json()["password"] is None
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("JSESSIONID=")
    assert "HttpOnly" in cookie
    assert "Path=/" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie
    assert (await client.get("/session")).json()["id"] == served.admin_id


async def test_wrong_credentials_are_401_in_plain_text_without_a_dialog(served):
    for form in [
        {"email": "admin@example.org", "password": "wrong"},
        {"email": "nobody@example.org", "password": "admin"},
        {"email": "admin\x00@example.org", "password": "admin"},
        {"email": "admin@example.org", "password": "adm\ud7ffin"},
    ]:
        answer = await served.client().post("/session", form=form)
        assert answer.status == 401
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert "WWW-Authenticate" not in answer.headers
        assert "Set-Cookie" not in answer.headers
        assert "\n" not in answer.text


async def test_a_login_form_without_a_field_is_400_that_names_it(served):
    answer = await served.client().post("/session", form={"email": "admin@example.org"})
    assert answer.status == 400
    assert "password" in answer.text


async def test_without_login_protected_paths_are_401_and_only_pages_get_the_dialog(served):
    anonymous = served.client()
    assert (await anonymous.get("/devices")).status == 401
    assert "WWW-Authenticate" not in (await anonymous.get("/devices")).headers
    page = await anonymous.get("/devices", headers={"Accept": "text/html,*/*"})
    assert page.status == 401
    assert page.headers["WWW-Authenticate"] == 'Basic realm="api"'
    assert (await anonymous.get("/session")).status == 404


async def test_basic_works_on_every_call_and_sets_no_cookie(served):
    client = served.client(basic("admin@example.org", "admin"))
    for _ in range(3):
        answer = await client.get("/devices", headers={"Content-Type": "application/json"})
        assert answer.status == 200
        assert "Set-Cookie" not in answer.headers
    assert (await client.get("/session")).json()["email"] == "admin@example.org"


async def test_an_authorization_header_decides_alone(served):
    assert (await served.admin.get("/devices", headers=basic("admin@example.org", "wrong"))).status == 401
    assert (await served.admin.get("/devices", headers={"Authorization": "Negotiate x"})).status == 401
    assert (await served.admin.get("/devices", headers={"Authorization": "basic !!!"})).status == 401
    assert (await served.admin.get("/devices")).status == 200


async def test_a_bad_credential_on_a_public_path_is_no_credential(served):
    assert (await served.client(basic("admin@example.org", "wrong")).get("/server")).status == 200


async def test_a_new_password_ends_basic_and_other_sessions_but_not_ones_own(served):
    first = await served.user("ann")
    second = await served.log_in("ann@example.org", "ann")
    with_basic = served.client(basic("ann@example.org", "ann"))
    assert (await with_basic.get("/devices")).status == 200
    me = (await first.get("/session")).json()
    assert (await first.put(f"/users/{me['id']}", json={**me, "password": "new"})).status == 200
    assert (await first.get("/devices")).status == 200
    assert (await second.get("/devices")).status == 401
    assert (await with_basic.get("/devices")).status == 401
    assert (await served.client(basic("ann@example.org", "new")).get("/devices")).status == 200


async def test_login_makes_a_new_session_id_whatever_the_client_sent(served):
    client = served.client()
    client.quart.set_cookie("localhost", "JSESSIONID", "planted")
    answer = await client.post("/session", form={"email": "admin@example.org", "password": "admin"})
    assert "planted" not in answer.headers["Set-Cookie"]
    planted = served.client({"Cookie": "JSESSIONID=planted"})
    assert (await planted.get("/devices")).status == 401


async def test_logging_in_again_ends_the_session_before(served):
    client = await served.log_in("admin@example.org", "admin")
    before = client.quart.cookie_jar
    old = next(cookie.value for cookie in before if cookie.name == "JSESSIONID")
    await client.post("/session", form={"email": "admin@example.org", "password": "admin"})
    assert (await served.client({"Cookie": f"JSESSIONID={old}"}).get("/devices")).status == 401


async def test_logout_ends_the_session_and_nothing_of_it_stays_in_the_browser(served):
    client = await served.log_in("admin@example.org", "admin")
    cookie = served.cookie(client)
    answer = await client.delete("/session")
    assert answer.status == 204
    (deleted,) = answer.headers.getlist("Set-Cookie")
    assert deleted.startswith("JSESSIONID=; ")
    assert "Max-Age=0" in deleted
    assert "Path=/" in deleted
    # The device stays a known one, and the cookies of other hosts of the domain are theirs.
    assert answer.headers["Clear-Site-Data"] == '"cache"'
    assert [each.name for each in client.quart.cookie_jar] == ["motorpool_device"]
    assert (await client.get("/devices")).status == 401
    assert (await served.client({"Cookie": f"JSESSIONID={cookie}"}).get("/devices")).status == 401


async def test_a_session_ends_when_it_is_not_used_for_its_time_and_lives_on_while_it_is(starting):
    async with starting(http=HttpSettings(session_days=10)) as served:
        client = await served.log_in("admin@example.org", "admin")
        day = timedelta(days=1).total_seconds()
        served.clock.move_wall(9 * day)
        assert (await client.get("/devices")).status == 200
        served.clock.move_wall(9 * day)
        assert (await client.get("/devices")).status == 200
        served.clock.move_wall(11 * day)
        assert (await client.get("/devices")).status == 401


async def test_who_comes_after_days_can_read_while_the_database_takes_no_changes(served, read_only):
    client = await served.log_in("admin@example.org", "admin")
    # That a session and an address were used is written again.
    served.clock.move_wall(timedelta(days=2).total_seconds())
    served.context.logins.accounts.clear()
    with read_only():
        served.context.database.pool.terminate_idle()
        assert (await client.get("/devices")).status == 200
        assert (await served.client(basic("admin@example.org", "admin")).get("/devices")).status == 200
        assert (await client.post("/groups", json={"name": "x"})).status == 503
    served.context.database.pool.terminate_idle()
    assert (await client.post("/groups", json={"name": "x"})).status == 200


async def test_a_page_of_another_origin_cannot_use_the_cookie(served):
    client = await served.log_in("admin@example.org", "admin")
    assert (await client.get("/devices", headers={"Origin": "http://localhost"})).status == 200
    assert (await client.get("/devices", headers={"Origin": "https://evil.example"})).status == 401
    assert (await client.get("/devices", headers={"Origin": "null"})).status == 401


async def test_a_session_begun_from_an_origin_belongs_to_it(starting):
    async with starting(http=HttpSettings(cors_origin="https://app.example")) as served:
        client = served.client()
        await client.post(
            "/session",
            form={"email": "admin@example.org", "password": "admin"},
            headers={"Origin": "https://app.example"},
        )
        assert (await client.get("/devices", headers={"Origin": "https://app.example"})).status == 200
        assert (await client.get("/devices", headers={"Origin": "http://localhost"})).status == 401


async def test_only_failures_count_and_too_many_are_429_with_the_time_to_wait(starting):
    login = LoginSettings(
        hash_memory_kib=8192, hash_rounds=1, failures_per_account=3, failures_per_address=100
    )
    async with starting() as served:
        served.context.logins.throttle._settings = login
        client = served.client()
        good = {"email": "admin@example.org", "password": "admin"}
        for _ in range(6):
            assert (await client.post("/session", form=good)).status == 200
        await served.user("ann")
        for _ in range(3):
            wrong = {"email": "ann@example.org", "password": "x"}
            assert (await client.post("/session", form=wrong)).status == 401
        refused = await client.post("/session", form={"email": "ann@example.org", "password": "y"})
        assert refused.status == 429
        assert 1 <= int(refused.headers["Retry-After"]) <= 300
        assert (await client.post("/session", form=good)).status == 200


async def test_a_disabled_or_expired_user_is_401_by_every_way(served):
    ann = await served.user("ann")
    token = (await ann.post("/session/token", form={})).text
    user = (await served.admin.get(f"/users/{ann.id}")).json()
    await served.admin.put(f"/users/{ann.id}", json={**user, "disabled": True})
    assert (await ann.get("/devices")).status == 401
    assert (await served.client(basic("ann@example.org", "ann")).get("/devices")).status == 401
    assert (await served.client({"Authorization": f"Bearer {token}"}).get("/devices")).status == 401
    assert (
        await served.client().post("/session", form={"email": "ann@example.org", "password": "ann"})
    ).status == 401
    await served.admin.put(f"/users/{ann.id}", json={**user, "expirationTime": "2026-05-02T12:00:00Z"})
    assert (await ann.get("/devices")).status == 200
    served.clock.move_wall(2 * 86400)
    assert (await ann.get("/devices")).status == 401


async def test_one_time_codes_are_asked_for_and_checked(served):
    ann = await served.user("ann")
    secret = (await served.client().post("/users/totp")).text
    me = (await ann.get("/session")).json()
    saved = await ann.put(f"/users/{ann.id}", json={**me, "totpKey": secret})
    assert saved.status == 200
    assert secret not in saved.text
    client = served.client()
    form = {"email": "ann@example.org", "password": "ann"}
    missing = await client.post("/session", form=form)
    assert (missing.status, missing.headers["WWW-Authenticate"]) == (401, "TOTP")
    totp = pyotp.TOTP(secret)
    now = served.clock.now()
    wrong = await client.post("/session", form={**form, "code": totp.at(now + timedelta(minutes=5))})
    assert wrong.status == 401
    assert "WWW-Authenticate" not in wrong.headers
    good = await client.post("/session", form={**form, "code": totp.at(now - timedelta(seconds=30))})
    assert good.status == 200
    # There is no place for a code in Basic.
    assert (await served.client(basic("ann@example.org", "ann")).get("/devices")).status == 401
    # Saved again without the key it is kept; saved with an empty one it is gone.
    await client.put(f"/users/{ann.id}", json={**me, "totpKey": None})
    assert (await served.client().post("/session", form=form)).status == 401
    await client.put(f"/users/{ann.id}", json={**me, "totpKey": ""})
    assert (await served.client().post("/session", form=form)).status == 200


async def test_a_token_works_as_bearer_and_as_a_login(served):
    token = (await served.admin.post("/session/token", form={})).text
    assert (await served.client({"Authorization": f"Bearer {token}"}).get("/devices")).status == 200
    client = served.client()
    answer = await client.get(f"/session?token={quote(token)}")
    assert answer.status == 200
    assert (await client.get("/devices")).status == 200


async def test_a_token_in_a_body_opens_the_session_that_one_in_the_address_would(served, database):
    token = (await served.admin.post("/session/token", form={})).text
    client = served.client()
    answer = await client.post("/session/token/login", form={"token": token})
    assert (answer.status, answer.json()["email"]) == (200, "admin@example.org")
    assert (await client.get("/devices")).status == 200
    (method,) = await database.fetch("select attributes->>'method' from audit order by id desc limit 1")
    assert method[0] == "token"
    # It ends with the token.
    await served.admin.post("/session/token/revoke", form={"token": token})
    assert (await client.get("/devices")).status == 401
    assert (await served.client().post("/session/token/login", form={"token": token})).status == 404
    assert (await served.client().post("/session/token/login", form={"token": "x"})).status == 404
    assert (await served.client().post("/session/token/login", form={})).status == 400


async def test_an_answer_to_an_address_with_a_token_is_kept_by_nobody_and_names_it_nowhere(served):
    token = (await served.admin.post("/session/token", form={})).text
    answer = await served.client().get(f"/session?token={token}")
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_a_token_and_the_session_it_began_end_with_its_expiration(served):
    sent = {"expiration": "2026-05-01T13:00:00.000Z"}
    token = (await served.admin.post("/session/token", form=sent)).text
    client = served.client()
    assert (await client.get(f"/session?token={token}")).status == 200
    # Who came with a token makes none that outlives it.
    longer = (await client.post("/session/token", form={"expiration": "2026-06-01T00:00:00Z"})).text
    served.clock.move_wall(3601)
    for text in (token, longer):
        assert (await served.client({"Authorization": f"Bearer {text}"}).get("/devices")).status == 401
        assert (await served.client().get(f"/session?token={text}")).status == 404
    assert (await client.get("/devices")).status == 401
    assert (await served.admin.get("/devices")).status == 200


async def test_an_expiration_without_zone_or_in_the_past_is_400(served):
    for expiration in ["2026-05-01T13:00:00", "tomorrow", "2026-05-01T11:59:59Z"]:
        assert (await served.admin.post("/session/token", form={"expiration": expiration})).status == 400


async def test_a_revoked_token_is_dead_and_a_forged_one_cannot_be_revoked(served):
    token = (await served.admin.post("/session/token", form={})).text
    ann = await served.user("ann")
    assert (await ann.post("/session/token/revoke", form={"token": token})).status == 400
    assert (await served.admin.post("/session/token/revoke", form={"token": token})).status == 204
    assert (await served.client({"Authorization": f"Bearer {token}"}).get("/devices")).status == 401
    assert (await served.client().get(f"/session?token={token}")).status == 404
    assert (await served.admin.post("/session/token/revoke", form={"token": token + "x"})).status == 400
    assert (await served.admin.post("/session/token/revoke", form={})).status == 400


async def test_a_session_as_another_user_is_for_administrators_and_his_manager(served):
    ann = await served.user("ann")
    boss = await served.user("boss", userLimit=5)
    assert (await boss.get(f"/session/{ann.id}")).status == 401
    assert (await ann.get(f"/session/{served.admin_id}")).status == 401
    assert (await ann.get("/session/999999")).status == 401
    assert (await served.admin.get("/session/999999")).status == 404
    await served.admin.post("/permissions", json={"userId": boss.id, "managedUserId": ann.id})
    opened = await boss.get(f"/session/{ann.id}")
    assert opened.json()["email"] == "ann@example.org"
    assert (await boss.get("/session")).json()["id"] == ann.id


async def test_defaults_of_login_protection_are_not_off():
    login = Settings().login
    assert 1 <= login.failures_per_account <= 20
    assert login.hash_memory_kib >= 19456


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_a_new_password_ends_the_tokens_of_before_and_none_of_after(served):
    ann, ben = await served.user("ann"), await served.user("ben")
    old = (await ann.post("/session/token", form={})).text
    bens = (await ben.post("/session/token", form={})).text
    opened = served.client()
    assert (await opened.get(f"/session?token={old}")).status == 200
    served.clock.move_wall(1)
    me = (await ann.get("/session")).json()
    assert (await ann.put(f"/users/{ann.id}", json={**me, "password": "new"})).status == 200
    assert (await served.client(bearer(old)).get("/devices")).status == 401
    assert (await served.client().get(f"/session?token={old}")).status == 404
    assert (await opened.get("/devices")).status == 401
    new = (await ann.post("/session/token", form={})).text
    assert (await served.client(bearer(new)).get("/devices")).status == 200
    assert (await served.client(bearer(bens)).get("/devices")).status == 200
    # By an administrator too: then none of his sessions stays.
    served.clock.move_wall(1)
    user = (await served.admin.get(f"/users/{ann.id}")).json()
    await served.admin.put(f"/users/{ann.id}", json={**user, "password": "newer"})
    assert (await served.client(bearer(new)).get("/devices")).status == 401
    assert (await ann.get("/devices")).status == 401
    assert (await served.admin.get("/devices")).status == 200


async def test_saving_a_user_without_a_password_ends_nothing(served):
    ann = await served.user("ann")
    token = (await ann.post("/session/token", form={})).text
    served.clock.move_wall(1)
    me = (await ann.get("/session")).json()
    for password in (None, ""):
        await ann.put(f"/users/{ann.id}", json={**me, "name": "Ann", "password": password})
    assert (await served.client(bearer(token)).get("/devices")).status == 200


async def test_what_was_revoked_or_ended_stays_so_after_a_restart(starting, database):
    async with starting() as served:
        ann = await served.user("ann")
        revoked = (await served.admin.post("/session/token", form={})).text
        ended = (await ann.post("/session/token", form={})).text
        good = (await served.admin.post("/session/token", form={})).text
        await served.admin.post("/session/token/revoke", form={"token": revoked})
        served.clock.move_wall(1)
        me = (await ann.get("/session")).json()
        await ann.put(f"/users/{ann.id}", json={**me, "password": "new"})
        # A second server on the same tables knows nothing but what they say.
        context = served.context
        context.logins.accounts = type(context.logins.accounts)(database, context.clock.monotonic)
        for token, status in ((revoked, 401), (ended, 401), (good, 200)):
            assert (await served.client(bearer(token)).get("/devices")).status == status


async def test_sessions_that_began_with_a_token_end_when_it_is_revoked(served):
    token = (await served.admin.post("/session/token", form={})).text
    other = (await served.admin.post("/session/token", form={"expiration": "2026-05-03T00:00:00Z"})).text
    authenticate_token, by_other = served.client(), served.client()
    await authenticate_token.get(f"/session?token={token}")
    await by_other.get(f"/session?token={other}")
    assert (await served.admin.post("/session/token/revoke", form={"token": token})).status == 204
    assert (await authenticate_token.get("/devices")).status == 401
    assert (await by_other.get("/devices")).status == 200
    assert (await served.admin.get("/devices")).status == 200


async def test_who_comes_with_a_bearer_token_makes_none_that_outlives_it(served):
    token = (await served.admin.post("/session/token", form={"expiration": "2026-05-01T13:00:00Z"})).text
    longer = await served.client(bearer(token)).post(
        "/session/token", form={"expiration": "2026-06-01T00:00:00Z"}
    )
    assert longer.status == 200
    served.clock.move_wall(3600)
    assert (await served.client(bearer(longer.text)).get("/devices")).status == 401


async def test_a_one_time_code_works_once(served):
    ann = await served.user("ann")
    secret = (await served.client().post("/users/totp")).text
    me = (await ann.get("/session")).json()
    await ann.put(f"/users/{ann.id}", json={**me, "totpKey": secret})
    form = {"email": "ann@example.org", "password": "ann"}
    code = pyotp.TOTP(secret).at(served.clock.now())
    assert (await served.client().post("/session", form={**form, "code": code})).status == 200
    again = await served.client().post("/session", form={**form, "code": code})
    assert (again.status, "WWW-Authenticate" in again.headers) == (401, False)
    served.clock.move_wall(30)
    code = pyotp.TOTP(secret).at(served.clock.now())
    assert (await served.client().post("/session", form={**form, "code": code})).status == 200


async def test_where_codes_are_forced_who_registers_needs_a_key_and_keeps_it(served):
    settings = (await served.admin.get("/server")).json()
    await served.admin.put(
        "/server", json={**settings, "registration": True, "attributes": {"totpForce": True}}
    )
    sent = {"name": "Eve", "email": "eve@example.org", "password": "eve"}
    assert (await served.client().post("/users", json=sent)).status == 400
    secret = (await served.client().post("/users/totp")).text
    assert (await served.client().post("/users", json={**sent, "totpKey": secret})).status == 200
    eve = served.client()
    code = pyotp.TOTP(secret).at(served.clock.now())
    form = {"email": "eve@example.org", "password": "eve", "code": code}
    me = (await eve.post("/session", form=form)).json()
    assert (await eve.put(f"/users/{me['id']}", json={**me, "totpKey": ""})).status == 400
    assert (await eve.put(f"/users/{me['id']}", json={**me, "name": "Eva"})).status == 200
    assert (await served.admin.put(f"/users/{me['id']}", json={**me, "totpKey": ""})).status == 200


async def test_a_password_set_from_the_shell_ends_sessions_and_tokens(starting, database_url, tmp_path):
    async with starting() as served:
        ann = await served.user("ann")
        token = (await ann.post("/session/token", form={})).text
        environ = {**os.environ, "MOTORPOOL_DATA": str(tmp_path), "MOTORPOOL_DATABASE": database_url}
        command = [sys.executable, "-m", "motorpool", "user", "ann@example.org", "--password"]
        done = await trio.run_process(command, stdin=b"a new password\n", env=environ, capture_stdout=True)
        assert done.stdout == b"user ann@example.org changed\n"
        # A running server looks again within half a minute.
        assert MAX_AGE_SECONDS <= 30
        served.context.logins.accounts.clear()
        assert (await ann.get("/devices")).status == 401
        assert (await served.client(bearer(token)).get("/devices")).status == 401
        await served.log_in("ann@example.org", "a new password")


async def test_nobody_opens_a_session_as_a_user_who_may_not_log_in(served):
    ann = await served.user("ann", disabled=False)
    body = (await served.admin.get(f"/users/{ann.id}")).json()
    await served.admin.put(f"/users/{ann.id}", json={**body, "disabled": True})
    refused = await served.admin.get(f"/session/{ann.id}")
    assert (refused.status, refused.text) == (404, "the user is disabled or has expired")
