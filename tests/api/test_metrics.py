import base64

from prometheus_client.parser import text_string_to_metric_families
from tests.api.cases import on_one_server

from motorpool.actors.messages.conditions import ALL, MEMORY
from motorpool.api import metrics
from motorpool.api.settings import HttpSettings

FORWARDED = ["X-Forwarded-For", "Forwarded", "X-Real-IP", "CF-Connecting-IP", "Via"]


async def read(served, address="127.0.0.1", **headers):
    """Ask for the figures from an address; the status."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    client = served.client(sent)
    return (await client.call("GET", "/metrics", scope_base={"client": (address, 5000)})).status


def basic(name, password):
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


async def test_this_machine_reads_figures_of_actors_and_requests(served):
    await served.admin.get("/devices")
    answer = await served.client().call("GET", "/metrics")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert 'motorpool_http_requests_total{operation="listDevices",status="2xx"} 1.0' in answer.text
    assert "motorpool_database_available 1.0" in answer.text
    assert 'kind="directory"' in answer.text
    assert "motorpool_loop_longest_stall_seconds " in answer.text


async def test_conditions_and_free_space_are_figures(served):
    served.context.system.conditions.enter(MEMORY, "950 MiB of 1024 MiB are used")
    text = (await served.client().call("GET", "/metrics")).text
    for kind in ALL:
        assert f'motorpool_condition{{condition="{kind.name}"}} {float(kind is MEMORY)}' in text
    assert "motorpool_disk_free_bytes " in text
    assert "motorpool_disk_bytes " in text


@on_one_server("header", FORWARDED)
async def test_what_a_proxy_forwards_that_is_not_trusted_is_refused(served, header):
    assert await read(served, **{header.replace("-", "_"): "127.0.0.1"}) == 403


async def test_behind_a_trusted_proxy_the_address_of_the_client_counts(starting):
    http = HttpSettings(trusted_proxies=("127.0.0.1/32", "10.0.0.1/32"))
    async with starting(http=http) as served:
        assert await read(served) == 200
        assert await read(served, X_Forwarded_For="127.0.0.1") == 200
        for forwarded in (
            "198.51.100.7",
            "127.0.0.1, 198.51.100.7",
            "127.0.0.2, 198.51.100.7, 10.0.0.1",
            "x",
        ):
            assert await read(served, X_Forwarded_For=forwarded) == 403, forwarded
        # It does not say for whom.
        assert await read(served, Via="1.1 proxy") == 403
        # The proxy itself is in none of the networks.
        assert await read(served, "10.0.0.1") == 403


async def test_the_networks_are_those_of_the_setting(starting):
    for allowed, statuses in (
        (
            HttpSettings().metrics_allow,
            {"10.1.2.3": 403, "127.8.8.8": 200, "::1": 200, "::ffff:127.0.0.1": 200},
        ),
        (("10.0.0.0/8",), {"10.1.2.3": 200, "192.168.1.5": 403, "127.0.0.1": 403, "::1": 403}),
        ((), {"10.1.2.3": 403, "127.0.0.1": 403, "::1": 403}),
    ):
        async with starting(http=HttpSettings(metrics_allow=allowed)) as served:
            for address, status in statuses.items():
                assert await read(served, address) == status, (allowed, address)
            await served.context.database.execute("delete from users; update server set initialised = false")


async def test_administrators_read_them_from_anywhere(starting):
    async with starting(http=HttpSettings(metrics_allow=())) as served:
        ann = await served.user("ann")
        tokens = {client: (await client.post("/session/token")).text for client in (served.admin, ann)}
        for credential, status in (
            ({"Authorization": f"Bearer {tokens[served.admin]}"}, 200),
            ({"Authorization": basic("admin@example.org", "admin")}, 200),
            ({"Cookie": f"JSESSIONID={served.cookie(served.admin)}"}, 200),
            ({"Authorization": f"Bearer {tokens[served.admin]}", "X_Forwarded_For": "198.51.100.7"}, 200),
            ({"Authorization": f"Bearer {tokens[ann]}"}, 403),
            ({"Cookie": f"JSESSIONID={served.cookie(ann)}"}, 403),
            ({"Cookie": f"JSESSIONID={served.cookie(served.admin)}", "Origin": "https://evil.example"}, 403),
            ({"Authorization": "Bearer x"}, 401),
            ({"Authorization": basic("admin@example.org", "guess")}, 401),
            ({}, 403),
        ):
            assert await read(served, "198.51.100.7", **credential) == status, credential


def test_samples_of_several_servers_stand_together_each_with_its_server():
    first = b"""# HELP a_total What a is.
# TYPE a_total counter
a_total 1.0
# HELP b Kinds, in {braces}.
# TYPE b gauge
b{kind="x{1}"} 2.0
"""
    second = b"""# HELP a_total What a is.
# TYPE a_total counter
a_total 3.0
# HELP b Kinds, in {braces}.
# TYPE b gauge
# HELP c Only here.
# TYPE c gauge
c 4.0
"""
    text = metrics.merged({0: first, 2: second}).decode()
    assert (
        text
        == """# HELP a_total What a is.
# TYPE a_total counter
a_total{node="0"} 1.0
a_total{node="2"} 3.0
# HELP b Kinds, in {braces}.
# TYPE b gauge
b{node="0",kind="x{1}"} 2.0
# HELP c Only here.
# TYPE c gauge
c{node="2"} 4.0
"""
    )
    assert {family.name for family in text_string_to_metric_families(text)} == {"a", "b", "c"}
