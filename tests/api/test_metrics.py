from motorpool.actors.messages.conditions import ALL, MEMORY
from motorpool.api.settings import HttpSettings


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


async def test_a_forwarded_request_is_refused(served):
    for header in ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"]:
        answer = await served.client().call("GET", "/metrics", headers={header: "127.0.0.1"})
        assert answer.status == 403


async def test_another_machine_is_refused_unless_its_network_is_allowed(starting):
    async with starting(http=HttpSettings(metrics_allow=("10.0.0.0/8",))) as served:
        for address, status in (("10.1.2.3", 200), ("192.168.1.5", 403), ("::1", 200)):
            client = served.client()
            answer = await client.call("GET", "/metrics", scope_base={"client": (address, 5000)})
            assert answer.status == status, address
