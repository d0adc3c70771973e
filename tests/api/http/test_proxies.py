"""Behind a proxy: whose word counts, and for what (docs/decisions/0019)."""

from motorpool.api.login_settings import LoginSettings
from motorpool.api.settings import HttpSettings

SPAN = "from=2026-05-01T00:00:00Z&to=2026-05-02T00:00:00Z"
BEHIND = HttpSettings(trusted_proxies=("127.0.0.0/8", "10.0.0.0/8"))
LOGIN = {"email": "admin@example.org", "password": "admin"}
WRONG = {"email": "nobody@example.org", "password": "wrong"}


async def log_in(served, form=LOGIN, **headers):
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return await served.client().post("/session", form=form, headers=sent)


async def addresses(served):
    audit = (await served.admin.get(f"/audit?{SPAN}")).json()
    return [action["address"] for action in audit if action["actionType"] == "login"]


async def test_the_client_behind_trusted_proxies_stands_in_the_log(starting):
    async with starting(http=BEHIND) as served:
        await log_in(served, X_Forwarded_For="203.0.113.7")
        # Whatever the client wrote himself stands further to the left than what the proxies saw.
        await log_in(served, X_Forwarded_For="1.2.3.4, 203.0.113.8, 10.1.2.3")
        await log_in(served, X_Forwarded_For="2001:db8::1")
        await log_in(served)
        assert (await addresses(served))[-4:] == ["203.0.113.7", "203.0.113.8", "2001:db8::1", "127.0.0.1"]


async def test_the_word_of_anybody_else_counts_for_nothing(served):
    answer = await log_in(served, X_Forwarded_For="203.0.113.7", X_Forwarded_Proto="https")
    assert "; Secure" not in answer.headers["Set-Cookie"]
    assert (await addresses(served))[-1] == "127.0.0.1"


async def test_the_cookie_is_secure_where_the_proxy_spoke_tls(starting):
    async with starting(http=BEHIND) as served:
        assert "; Secure" in (await log_in(served, X_Forwarded_Proto="https")).headers["Set-Cookie"]
        assert "; Secure" not in (await log_in(served, X_Forwarded_Proto="http")).headers["Set-Cookie"]
        assert "; Secure" not in (await log_in(served)).headers["Set-Cookie"]


async def test_failures_count_for_the_client_and_not_for_the_proxy(starting):
    login = LoginSettings(hash_memory_kib=8192, hash_rounds=1, failures_per_address=3)
    async with starting(http=BEHIND, login=login) as served:
        for number in range(4):
            form = {**WRONG, "email": f"nobody{number}@example.org"}
            answer = await log_in(served, form, X_Forwarded_For="203.0.113.7")
            assert answer.status == (401 if number < 3 else 429)
        assert answer.headers["Retry-After"].isdecimal()
        assert (await log_in(served, WRONG, X_Forwarded_For="203.0.113.8")).status == 401
        assert (await log_in(served, LOGIN, X_Forwarded_For="203.0.113.9")).status == 200


async def test_a_page_of_the_proxys_host_may_use_its_cookie_and_others_may_not(starting):
    async with starting(http=BEHIND) as served:
        cookie = {
            "Cookie": f"JSESSIONID={served.cookie(served.admin)}",
            "X-Forwarded-Host": "fleet.example.org",
        }
        caller = served.client()
        allowed = await caller.get("/session", headers={**cookie, "Origin": "https://fleet.example.org"})
        assert allowed.status == 200
        refused = await caller.get("/session", headers={**cookie, "Origin": "https://evil.example.org"})
        assert refused.status == 404
