import base64
import hashlib
import json
from datetime import timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from tests.api.cases import on_one_server

from motorpool.actors.settings import PublicSettings
from motorpool.api.login_settings import LoginSettings, OpenIdSettings
from motorpool.api.settings import HttpSettings

AUTH, CALLBACK = "/session/openid/auth", "/session/openid/callback"
ANN = "ann@example.org"
DISCOVERY, KEYS, TOKEN = "/.well-known/openid-configuration", "/jwks", "/oauth2/token"


@pytest.fixture
async def served(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True)) as running:
        yield running


async def callback(client, **query):
    return await client.get(CALLBACK, query_string=query)


async def begin(client):
    """The query that we send a browser to the provider with."""
    return {
        name: values[0]
        for name, values in parse_qs(urlsplit((await client.get(AUTH)).headers["Location"]).query).items()
    }


async def test_somebody_logs_in_there_and_is_logged_in_here(served, openid):
    client = served.client()
    answer = await openid.log_in(client, ANN)
    assert (answer.status, answer.headers["Location"]) == (303, "/?openid=success")
    me = (await client.get("/session")).json()
    assert (me["email"], me["name"], me["fixedEmail"]) == (ANN, ANN, True)
    assert me["administrator"] is False
    assert (await client.get("/devices")).status == 200


@pytest.mark.parametrize(
    ("to", "location"),
    [
        ("/tickets/17", "/tickets/17?openid=success"),
        ("/fleet?keyword=van%207&sort=name", "/fleet?keyword=van%207&sort=name&openid=success"),
        ("/tickets/17#entry", "/tickets/17?openid=success#entry"),
        ("/", "/?openid=success"),
    ],
)
async def test_a_login_ends_at_the_address_that_was_asked_for(served, openid, to, location):
    answer = await openid.log_in(served.client(), ANN, f"?{urlencode({'to': to})}")
    assert (answer.status, answer.headers["Location"]) == (303, location)
    given_up = await openid.log_in(served.client(), None, f"?{urlencode({'to': to})}")
    assert given_up.headers["Location"] == location.replace("success", "cancelled")


@on_one_server(
    "to",
    [
        "tickets/17",
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example/",
        "\\\\evil.example/",
        "/\t/evil.example/",
        "/\n/evil.example/",
        " //evil.example/",
        ".evil.example/",
        "@evil.example/",
        "javascript:alert(1)",
        "/tickets/\u00fc",
        "/" + "a" * 1024,
    ],
)
async def test_nobody_is_sent_to_another_site_after_a_login(served, to):
    refused = await served.client().get(f"{AUTH}?{urlencode({'to': to})}")
    assert (refused.status, "to" in refused.text) == (400, True)
    assert "Set-Cookie" not in refused.headers


async def test_the_provider_is_asked_with_state_nonce_and_a_challenge_that_fits_the_verifier(served, openid):
    client = served.client()
    answer = await client.get(AUTH)
    assert answer.status == 303
    sent = parse_qs(urlsplit(answer.headers["Location"]).query)
    assert sent["response_type"] == ["code"]
    assert sent["client_id"] == ["motorpool"]
    assert sent["scope"] == ["openid profile email"]
    assert sent["redirect_uri"] == ["http://127.0.0.1:8082/api/session/openid/callback"]
    assert sent["code_challenge_method"] == ["S256"]
    assert len(sent["state"][0]) >= 20
    assert len(sent["nonce"][0]) >= 40
    back = urlsplit(await openid.page(answer.headers["Location"], ANN))
    assert (await client.call("GET", f"{back.path}?{back.query}")).status == 303
    (form,) = openid.forms
    verifier = form["code_verifier"][0]
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    assert [digest] == sent["code_challenge"]
    assert form["redirect_uri"] == sent["redirect_uri"]
    # Each part form-encoded, as RFC 6749 has it.
    assert form["basic"] == ["Basic " + base64.b64encode(b"motorpool:s3%3Acret").decode()]


async def test_the_cookie_of_a_login_is_closed_to_scripts_and_foreign_sites_and_short_lived(served):
    cookie = (await served.client().get(AUTH)).headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/api/session/openid" in cookie
    assert "Max-Age=600" in cookie


async def test_behind_a_proxy_browsers_and_provider_are_told_the_public_address(starting, openid):
    public = PublicSettings(url="https://fleet.example.org/motorpool/")
    http = HttpSettings(cookie_secure=True)
    async with starting(openid=openid.settings(allow_registration=True), public=public, http=http) as served:
        answer = await served.client().get(AUTH, headers={"Host": "evil.example"})
        sent = parse_qs(urlsplit(answer.headers["Location"]).query)
        assert sent["redirect_uri"] == ["https://fleet.example.org/motorpool/api/session/openid/callback"]
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith("__Host-motorpool_openid=")
        assert "Path=/" in cookie.split("; ")
        assert "Secure" in cookie
        back = urlsplit(await openid.page(answer.headers["Location"], ANN))
        browser = served.client({"Cookie": cookie.partition(";")[0]})
        home = await browser.get(f"{CALLBACK}?{back.query}")
        assert home.headers["Location"] == "https://fleet.example.org/motorpool/?openid=success"
        begun = await served.client().get(f"{AUTH}?to=/tickets/17")
        browser = served.client({"Cookie": begun.headers["Set-Cookie"].partition(";")[0]})
        back = await browser.get(f"{CALLBACK}?error=access_denied")
        assert back.headers["Location"] == "https://fleet.example.org/motorpool/tickets/17?openid=cancelled"


async def test_not_configured_is_400_and_the_server_says_what_is(starting, openid):
    async with starting() as served:
        for path in (AUTH, CALLBACK):
            assert (await served.client().get(path)).status == 400
        told = (await served.client().get("/server")).json()
        assert (told["openIdEnabled"], told["openIdForce"]) == (False, False)
        served.context.live.settings = type(served.context.settings)()


async def test_a_server_with_a_provider_says_so(served):
    told = (await served.client().get("/server")).json()
    assert (told["openIdEnabled"], told["openIdForce"]) == (True, False)


async def test_where_the_provider_is_forced_no_password_works_but_sessions_and_tokens_do(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        token = (await served.admin.post("/session/token", form={})).text
        forced = openid.settings(allow_registration=True, force=True)
        served.context.live.settings = type(served.context.settings)(
            login=served.context.settings.login, openid=forced
        )
        told = (await served.client().get("/server")).json()
        assert (told["openIdEnabled"], told["openIdForce"]) == (True, True)
        form = {"email": "admin@example.org", "password": "admin"}
        refused = await served.client().post("/session", form=form)
        assert (refused.status, "OpenID" in refused.text) == (401, True)
        basic = base64.b64encode(b"admin@example.org:admin").decode()
        assert (await served.client({"Authorization": f"Basic {basic}"}).get("/devices")).status == 401
        assert (await served.client({"Authorization": f"Bearer {token}"}).get("/devices")).status == 200
        assert (await served.admin.get("/devices")).status == 200
        assert (await openid.log_in(served.client(), ANN)).status == 303


async def test_a_callback_without_the_cookie_of_its_login_is_refused(served, openid):
    answer = await served.client().get(AUTH)
    back = urlsplit(await openid.page(answer.headers["Location"], ANN))
    # Somebody else's link, opened in this browser: nobody is logged in by it.
    victim = served.client()
    refused = await victim.call("GET", f"{back.path}?{back.query}", headers={"Accept": "text/html"})
    assert refused.status == 401
    assert refused.headers["Content-Type"].startswith("text/plain")
    assert "http://127.0.0.1:8082/" in refused.text
    assert "\n" not in refused.text
    # A browser would ask for a password that helps nobody.
    assert "WWW-Authenticate" not in refused.headers
    assert "Set-Cookie" not in refused.headers
    assert (await victim.get("/session")).status == 404
    assert TOKEN not in openid.asked


async def test_a_wrong_state_is_refused_before_the_provider_is_asked(served, openid):
    client = served.client()
    sent = await begin(client)
    for state in ("", "x", sent["state"][:-1], sent["nonce"], "\ud800"):
        assert (await callback(client, code="c", state=state.encode("utf-8", "surrogatepass"))).status == 401
    other = await begin(served.client())
    assert (await callback(client, code="c", state=other["state"])).status == 401
    assert TOKEN not in openid.asked


async def test_a_code_works_once_and_so_does_a_state(served, openid):
    client = served.client()
    answer = await client.get(AUTH)
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    back = urlsplit(await openid.page(answer.headers["Location"], ANN))
    again = served.client({"Cookie": cookie})
    assert (await again.call("GET", f"{back.path}?{back.query}")).status == 303
    replayed = await again.call("GET", f"{back.path}?{back.query}")
    assert (replayed.status, "already" in replayed.text) == (401, True)
    # The same code in a login of one's own.
    code = parse_qs(back.query)["code"][0]
    sent = await begin(client)
    assert (await callback(client, code=code, state=sent["state"])).status == 401


async def test_a_login_that_took_too_long_is_refused(served, openid):
    client = served.client()
    answer = await client.get(AUTH)
    back = urlsplit(await openid.page(answer.headers["Location"], ANN))
    served.clock.move_wall(timedelta(minutes=10).total_seconds())
    refused = await client.call("GET", f"{back.path}?{back.query}")
    assert (refused.status, "too long" in refused.text) == (401, True)


async def test_another_token_of_ours_is_no_cookie_of_a_login(served):
    token = (await served.admin.post("/session/token", form={})).text
    client = served.client({"Cookie": f"motorpool_openid={token}"})
    assert (await callback(client, code="c", state="s")).status == 401
    # Nor is that cookie a token.
    answer = await served.client().get(AUTH)
    text = answer.headers["Set-Cookie"].partition(";")[0].partition("=")[2]
    assert (await served.client({"Authorization": f"Bearer {text}"}).get("/devices")).status == 401
    assert (await served.client().get(f"/session?token={text}")).status == 404


async def test_who_gives_up_at_the_provider_goes_home_and_is_nobody(served, openid):
    client = served.client()
    answer = await openid.log_in(client, None)
    assert (answer.status, answer.headers["Location"]) == (303, "/?openid=cancelled")
    assert (await client.get("/session")).status == 404


async def test_an_error_of_the_provider_is_401_and_its_words_are_not_repeated(served):
    client = served.client()
    sent = await begin(client)
    refused = await callback(client, error="<b>call 555</b>", state=sent["state"])
    assert (refused.status, "555" in refused.text) == (401, False)
    sent = await begin(client)
    assert (await callback(client, state=sent["state"])).status == 401


class Forger:
    """Signs what it likes, with a key that the provider owns up to or not."""

    def __init__(self, openid, *, known=True, algorithm="ES256"):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.algorithm = algorithm
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        self.jwk = {**public, "kid": "forger", "use": "sig"}
        openid.changes[DISCOVERY] = lambda found: {
            **found,
            "id_token_signing_alg_values_supported": ["RS256", algorithm],
        }
        if known:
            openid.changes[KEYS] = lambda found: {"keys": [*found["keys"], self.jwk]}
        openid.changes[TOKEN] = lambda found: {**found, "id_token": self.sign(found["id_token"])}
        self.wrong = {}
        self.header = {"kid": "forger"}

    def sign(self, text):
        claims = jwt.decode(text, options={"verify_signature": False})
        changed = {name: value for name, value in {**claims, **self.wrong}.items() if value is not None}
        return jwt.encode(changed, self.key, algorithm=self.algorithm, headers=self.header)


async def test_a_token_that_is_right_but_for_one_claim_is_refused(served, openid):
    forger = Forger(openid)
    assert (await openid.log_in(served.client(), ANN)).status == 303
    for wrong in (
        {"nonce": "another login's"},
        {"nonce": None},
        {"aud": "another program"},
        {"aud": ["motorpool", "another program"]},
        {"azp": "another program"},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"exp": int(served.clock.now().timestamp()) - 61},
        {"exp": "never"},
        {"exp": None},
        {"nbf": int(served.clock.now().timestamp()) + 3600},
        {"sub": None},
        {"sub": "somebody else"},
    ):
        forger.wrong = wrong
        client = served.client()
        refused = await openid.log_in(client, ANN)
        assert refused.status == 401, wrong
        assert (await client.get("/session")).status == 404
    forger.wrong = {"aud": ["motorpool", "another program"], "azp": "motorpool"}
    assert (await openid.log_in(served.client(), ANN)).status == 303


async def test_a_token_signed_by_another_key_is_refused(served, openid):
    forger = Forger(openid, known=False)
    assert (await openid.log_in(served.client(), ANN)).status == 401
    forger.header = {}
    assert (await openid.log_in(served.client(), ANN)).status == 401


async def test_a_token_that_names_a_good_key_but_is_signed_by_another_is_refused(served, openid):
    forger = Forger(openid)
    impostor = ec.generate_private_key(ec.SECP256R1())
    forger.key = impostor
    assert (await openid.log_in(served.client(), ANN)).status == 401


@pytest.mark.parametrize("announced", [False, True])
async def test_a_token_without_signature_is_refused_even_if_discovery_allows_it(served, openid, announced):
    openid.changes[TOKEN] = lambda found: {
        **found,
        "id_token": jwt.encode(
            jwt.decode(found["id_token"], options={"verify_signature": False}), None, algorithm="none"
        ),
    }
    if announced:
        openid.changes[DISCOVERY] = lambda found: {
            **found,
            "id_token_signing_alg_values_supported": ["none", "RS256"],
        }
    assert (await openid.log_in(served.client(), ANN)).status == 401


async def test_a_token_signed_by_the_client_secret_or_the_public_key_is_refused(served, openid):
    openid.changes[DISCOVERY] = lambda found: {
        **found,
        "id_token_signing_alg_values_supported": ["HS256", "RS256"],
    }
    for key in (b"s3:cret".ljust(32, b"\0"), b"-----BEGIN" + bytes(40)):
        openid.changes[TOKEN] = lambda found, key=key: {
            **found,
            "id_token": jwt.encode(
                jwt.decode(found["id_token"], options={"verify_signature": False}), key, algorithm="HS256"
            ),
        }
        assert (await openid.log_in(served.client(), ANN)).status == 401


async def test_a_damaged_id_token_is_refused(served, openid):
    for text in ("", "x", "a.b.c", "e30.e30.", 5):
        openid.changes[TOKEN] = lambda found, text=text: {**found, "id_token": text}
        answer = await openid.log_in(served.client(), ANN)
        # What is no text at all makes no sense of the provider.
        assert answer.status == (503 if text == 5 else 401), text


async def test_the_provider_may_change_its_keys(served, openid):
    assert (await openid.log_in(served.client(), ANN)).status == 303
    Forger(openid)
    # Its discovery document, with the new algorithm, is read again within the hour.
    served.clock.move_wall(0)
    served.context.logins.openid._documents._metadata._read_at = float("-inf")
    asked = openid.asked.count(KEYS)
    # Just asked: not again for every unknown key.
    assert (await openid.log_in(served.client(), ANN)).status == 401
    assert openid.asked.count(KEYS) == asked
    served.context.logins.openid._documents._keys._read_at -= 10
    assert (await openid.log_in(served.client(), ANN)).status == 303
    assert openid.asked.count(KEYS) == asked + 1


async def test_discovery_and_keys_are_read_once_for_many_logins(served, openid):
    for name in ("ann", "ben", "eve"):
        assert (await openid.log_in(served.client(), f"{name}@example.org")).status == 303
    assert (openid.asked.count(DISCOVERY), openid.asked.count(KEYS)) == (1, 1)


async def test_a_provider_that_is_away_or_makes_no_sense_is_503_in_one_line(served, openid):
    openid.changes[DISCOVERY] = lambda _: 500
    refused = await served.client().get(AUTH)
    assert (refused.status, "\n" in refused.text) == (503, False)
    assert refused.headers["Retry-After"]
    del openid.changes[DISCOVERY]
    # Not asked again at once, whoever wants to log in.
    assert (await served.client().get(AUTH)).status == 503
    assert openid.asked.count(DISCOVERY) == 1
    served.context.logins.openid._documents._metadata._failed_at -= 10
    assert (await served.client().get(AUTH)).status == 303
    for path, answer in ((TOKEN, 500), (TOKEN, {"error": "none"}), ("/userinfo", 401), ("/userinfo", [1])):
        openid.changes = {path: lambda _, answer=answer: answer}
        assert (await openid.log_in(served.client(), ANN)).status == 503, (path, answer)
    openid.changes = {}
    openid.stop()
    client = served.client()
    sent = await begin(client)
    assert (await callback(client, code="c", state=sent["state"])).status == 503


@pytest.mark.parametrize(
    "wrong",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "ftp://127.0.0.1/token"},
        {"jwks_uri": None},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
async def test_a_discovery_document_that_is_not_the_providers_is_not_believed(served, openid, wrong):
    openid.changes[DISCOVERY] = lambda found: {**found, **wrong}
    assert (await served.client().get(AUTH)).status == 503


async def test_other_private_addresses_that_the_provider_names_are_not_asked(served, openid):
    # Only the issuer's own host is the operator's word.
    openid.changes[DISCOVERY] = lambda found: {
        **found,
        "token_endpoint": found["token_endpoint"].replace("127.0.0.1", "127.0.0.2"),
    }
    assert (await openid.log_in(served.client(), ANN)).status == 503
    assert TOKEN not in openid.asked


async def test_userinfo_of_somebody_else_is_not_believed(served, openid):
    openid.changes["/userinfo"] = lambda found: {**found, "sub": "eve", "email": "admin@example.org"}
    assert (await openid.log_in(served.client(), ANN)).status == 401


async def test_a_client_without_secret_sends_its_id_alone(starting, openid):
    async with starting(openid=openid.settings(allow_registration=True, client_secret=None)) as served:
        # This provider wants a secret of everybody; what counts is what it was sent.
        assert (await openid.log_in(served.client(), ANN)).status == 401
        assert openid.forms[-1]["basic"] == [""]
        assert openid.forms[-1]["client_id"] == ["motorpool"]
        assert "client_secret" not in openid.forms[-1]


async def test_a_provider_that_takes_the_secret_in_the_form_only(starting, openid):
    openid.changes[DISCOVERY] = lambda found: {
        **found,
        "token_endpoint_auth_methods_supported": ["client_secret_post"],
    }
    async with starting(openid=openid.settings(allow_registration=True)) as served:
        assert (await openid.log_in(served.client(), ANN)).status == 303
        assert openid.forms[-1]["client_secret"] == ["s3:cret"]
        assert openid.forms[-1]["basic"] == [""]


async def test_groups_are_asked_for_where_they_matter_and_the_provider_knows_them(starting, openid):
    openid.changes[DISCOVERY] = lambda found: {**found, "scopes_supported": ["openid", "email", "groups"]}
    async with starting(openid=openid.settings(allow_group="drivers")) as served:
        assert (await begin(served.client()))["scope"] == "openid profile email groups"


async def test_too_many_refused_callbacks_of_one_address_are_429_and_good_ones_do_not_count(served, openid):
    for number in range(3):
        assert (await openid.log_in(served.client(), f"u{number}@example.org")).status == 303
    served.context.logins.throttle._settings = LoginSettings(failures_per_address=5)
    for _ in range(5):
        assert (await callback(served.client(), code="c", state="s")).status == 401
    refused = await callback(served.client(), code="c", state="s")
    assert (refused.status, bool(refused.headers["Retry-After"])) == (429, True)


async def test_logins_and_refusals_are_audited_and_no_secret_is_logged(served, openid, database, caplog):
    caplog.set_level("DEBUG")
    client = served.client()
    answer = await client.get(AUTH)
    back = urlsplit(await openid.page(answer.headers["Location"], ANN))
    await client.call("GET", f"{back.path}?{back.query}")
    await callback(served.client(), code="c", state="s")
    me = (await client.get("/session")).json()["id"]
    rows = await database.fetch(
        "select action_type, user_id, object_type from audit"
        " where attributes->>'method' = 'openid' or object_type = 'user' order by id desc limit 3"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("denied", 0, None),
        ("login", me, None),
        ("create", me, "user"),
    ]
    (form,) = openid.forms
    # The browser and the provider of this test log in the same process.
    ours = "\n".join(each.getMessage() for each in caplog.records if each.name.startswith("motorpool"))
    for secret in ("s3:cret", "s3%3Acret", form["code"][0], form["code_verifier"][0], served.cookie(client)):
        assert secret not in ours


def test_a_provider_is_off_until_it_is_configured():
    assert not OpenIdSettings().enabled
    assert not OpenIdSettings(force=True).forced
    assert OpenIdSettings(issuer="https://id.example.org", client_id="m", force=True).forced
