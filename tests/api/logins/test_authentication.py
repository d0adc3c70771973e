from motorpool.actors.settings import PublicSettings
from motorpool.api.settings import HttpSettings

PROXY = {"scope_base": {"client": ("10.0.0.1", 1)}}
LOGIN = {"email": "admin@example.org", "password": "admin"}


async def test_the_table_alone_opens_no_session(served, database):
    cookie = served.cookie(served.admin)
    (row,) = await database.fetch("select * from sessions")
    assert cookie not in str(dict(row.items()))
    stolen = served.client({"Cookie": f"JSESSIONID={row['id']}"})
    assert (await stolen.get("/devices")).status == 401


async def test_behind_a_trusted_proxy_that_speaks_tls_the_cookie_is_secure(starting):
    async with starting(http=HttpSettings(trusted_proxies=("10.0.0.0/8",))) as served:
        forwarded = {"X-Forwarded-Proto": "https"}
        through = await served.client().post("/session", form=LOGIN, headers=forwarded, **PROXY)
        assert "Secure" in through.headers["Set-Cookie"]
        direct = await served.client().post("/session", form=LOGIN, headers=forwarded)
        assert "Secure" not in direct.headers["Set-Cookie"]


async def test_the_setting_makes_every_cookie_secure(starting):
    async with starting() as served:
        served.context.live.settings = type(served.context.settings)(
            login=served.context.settings.login, http=HttpSettings(cookie_secure=True)
        )
        answer = await served.client().post("/session", form=LOGIN)
        assert "Secure" in answer.headers["Set-Cookie"]


async def test_the_public_address_is_an_origin_of_ours(starting):
    async with starting(public=PublicSettings(url="https://fleet.example.org/")) as served:
        origin = {"Origin": "https://fleet.example.org"}
        assert (await served.admin.get("/devices", headers=origin)).status == 200
        assert (await served.admin.get("/devices", headers={"Origin": "https://fleet.example"})).status == 401


async def test_a_damaged_header_is_nobody(served):
    for header in ("", "Basic", "Basic ", "Basic YWRtaW4=", "Basic /w==", "Bearer", "Bearer a.b.c"):
        assert (await served.client({"Authorization": header}).get("/devices")).status == 401, header


async def test_a_login_is_audited_and_so_is_a_refusal(served, database):
    await served.client().post("/session", form={**LOGIN, "password": "wrong"})
    await served.client().post("/session", form=LOGIN)
    rows = await database.fetch("select action_type, user_id, address from audit order by id desc limit 2")
    assert [(row[0], row[1]) for row in rows] == [("login", served.admin_id), ("denied", 0)]
