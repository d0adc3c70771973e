from motorpool.actors.messages.conditions import CLOCK, DATABASE, DISK
from motorpool.api.resources import server_status
from motorpool.storage.database import migrations


async def test_how_the_server_is_is_told_to_administrators(served):
    ann = await served.user("ann")
    assert (await ann.get("/server/status")).status == 400
    found = (await served.admin.get("/server/status")).json()
    assert found["healthy"] is True
    assert found["conditions"] == []
    assert found["disk"]["total"] > found["disk"]["used"] > 0
    assert found["resident"] > 1e6
    schema = len(migrations.load())
    assert found["database"].items() >= {"embedded": False, "schema": schema, "pending": 0}.items()
    assert found["database"]["bytes"] > 1e6
    assert 0 < found["database"]["latency"] < 60
    served.context.system.conditions.enter(CLOCK, "set forward by an hour")
    found = (await served.admin.get("/server/status")).json()
    (condition,) = found["conditions"]
    assert condition.items() >= {"name": "clock", "cause": "set forward by an hour"}.items()
    assert found["healthy"] is True
    served.context.system.conditions.enter(DISK, "full")
    assert (await served.admin.get("/server/status")).json()["healthy"] is False


async def test_it_is_told_while_the_database_is_away(served, monkeypatch):
    # A session that was seen lately is good meanwhile.
    assert (await served.admin.get("/server/status")).status == 200
    monkeypatch.setattr(server_status, "DATABASE_SECONDS", 0.0)
    found = (await served.admin.get("/server/status")).json()
    assert (found["healthy"], found["database"], found["nodes"]) == (False, None, [])
    assert DATABASE.fails_health


async def test_the_servers_of_the_database_are_listed(served, database):
    await database.execute(
        "insert into nodes (cluster, host, release, address, encryption_keys, state, started, seen_until)"
        " values"
        " ('fleet', 'one', '0.7.0', 'http://one:1', '{}', 'live', now(), now() + interval '1 hour'),"
        " ('fleet', 'two', '0.7.0', null, '{}', 'dead', now(), now() - interval '1 hour'),"
        " ('fleet', 'old', '0.7.0', null, '{}', 'dead', now(), now() - interval '10 days')"
    )
    await database.execute(
        "insert into duties (name, node, epoch) select 'outbox', max(id) - 2, 1 from nodes"
    )
    nodes = {each["host"]: each for each in (await served.admin.get("/server/status")).json()["nodes"]}
    assert "old" not in nodes
    assert (nodes["one"]["isUp"], nodes["one"]["duties"]) == (True, ["outbox"])
    assert (nodes["two"]["isUp"], nodes["two"]["duties"]) == (False, [])


async def test_what_takes_room_is_told_without_counting(served, database, monkeypatch):
    ann = await served.user("ann")
    assert (await ann.get("/server/storage")).status == 400
    van = await served.device(served.admin, "1")
    await served.report(*[served.position(van) for _ in range(5)])
    await database.execute("analyze audit")
    await database.execute("update pg_class set reltuples = -1 where relname = 'tickets'")
    media = served.context.settings.data / "media" / "1"
    media.mkdir(parents=True)
    for name in ("a.jpg", "b.jpg"):
        (media / name).write_bytes(b"x" * 1000)
    found = (await served.admin.get("/server/storage")).json()
    tables = {each["name"]: each for each in found["tables"]}
    sizes = [each["bytes"] for each in found["tables"]]
    assert sizes == sorted(sizes, reverse=True)
    assert tables["positions"]["partitions"] >= 2
    assert tables["positions"]["bytes"] > 0
    assert tables["audit"]["rows"] >= 3
    assert tables["audit"]["dailyRows"] is not None
    assert tables["users"]["dailyRows"] is None
    # Nobody has estimated them.
    assert tables["tickets"]["rows"] is None
    assert not [name for name in tables if name.startswith("positions_")]
    assert sum(sizes) <= found["databaseBytes"]
    assert found["folders"][0] == {"name": "media", "files": 2, "bytes": 2000}
    assert found["whole"] is True
    monkeypatch.setattr(server_status, "MOST_FILES", 1)
    found = (await served.admin.get("/server/storage")).json()
    assert (found["folders"][0]["files"], found["whole"]) == (1, False)
