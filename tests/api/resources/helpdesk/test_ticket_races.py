"""Tickets changed by many at once: what each was answered fits one order of the changes."""

import random
from collections import Counter
from typing import Any

import pytest
import trio


@pytest.fixture
async def world(desk: Any) -> Any:
    """The company with its standard configuration."""
    answer = await desk.chief.post("/tickets/defaults", json={"companyId": desk.id})
    desk.statuses = {each["name"]: each["id"] for each in answer.json()["statuses"]}
    return desk


async def make(world: Any, **fields: Any) -> Any:
    answer = await world.chief.post("/tickets", json={"companyId": world.id, "subject": "x", **fields})
    assert answer.status == 200, answer.text
    return answer.json()


async def at_once(calls: Any) -> list[Any]:
    """Send requests at the same time; their answers in order."""
    answers: list[Any] = [None] * len(calls)

    async def send(place: int, call: Any) -> None:
        answers[place] = await call()

    async with trio.open_nursery() as nursery:
        for place, call in enumerate(calls):
            nursery.start_soon(send, place, call)
    return answers


def post(client: Any, path: str, body: Any, **headers: str) -> Any:
    return lambda: client.post(path, json=body, headers=headers)


async def test_of_fifty_who_take_a_ticket_one_gets_it(world: Any) -> None:
    ticket = await make(world)
    takers = [world.chief, world.ann] * 25
    answers = await at_once(
        [
            post(each, f"/tickets/{ticket['id']}/assign", {"assigneeId": each.id, "expectAssigneeId": 0})
            for each in takers
        ]
    )
    assert Counter(answer.status for answer in answers) == {200: 1, 400: 49}
    winner = next(takers[place].id for place, answer in enumerate(answers) if answer.status == 200)
    texts = {answer.text for answer in answers if answer.status == 400}
    assert texts == {f"already assigned to user {winner}"}


async def test_fifty_tickets_made_at_once_have_the_numbers_one_to_fifty(world: Any) -> None:
    body = {"companyId": world.id, "subject": "x"}
    answers = await at_once([post(world.chief, "/tickets", body) for _ in range(50)])
    assert sorted(answer.json()["number"] for answer in answers) == list(range(1, 51))


async def test_two_who_edit_different_fields_do_not_undo_each_other(world: Any) -> None:
    ticket = await make(world)
    path = f"/tickets/{ticket['id']}"
    fields = [{"subject": "y"}, {"description": "d"}, {"uniqueId": "u"}, {"attributes": {"a": 1}}]
    answers = await at_once([lambda sent=sent: world.chief.put(path, json=sent) for sent in fields])
    assert [answer.status for answer in answers] == [200] * 4
    now = (await world.chief.get(path)).json()
    for sent in fields:
        assert {name: now[name] for name in sent} == sent
    assert now["version"] == 5
    conflicting = [
        lambda value=value: world.chief.put(path, json={"subject": value, "version": 5}) for value in "abcdef"
    ]
    answers = await at_once(conflicting)
    assert Counter(answer.status for answer in answers) == {200: 1, 400: 5}


async def test_comments_never_conflict(world: Any) -> None:
    ticket = await make(world)
    path = f"/tickets/{ticket['id']}"
    answers = await at_once([post(world.chief, f"{path}/comments", {"text": f"{n}"}) for n in range(20)])
    assert [answer.status for answer in answers] == [200] * 20
    assert len({answer.json()["version"] for answer in answers}) == 20
    now = (await world.chief.get(path)).json()
    assert (now["commentCount"], now["version"]) == (20, 21)
    count = "select count(*) from ticket_events where ticket_id = $1 and type = 'firstResponse'"
    assert await world.database.fetch_value(count, ticket["id"]) == 1


async def test_a_request_sent_again_while_it_is_served_is_done_once(world: Any) -> None:
    body = {"companyId": world.id, "subject": "x"}
    answers = await at_once(
        [post(world.chief, "/tickets", body, **{"Idempotency-Key": "k"}) for _ in range(20)]
    )
    assert [answer.status for answer in answers] == [200] * 20
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sum("Idempotent-Replay" in answer.headers for answer in answers) == 19
    assert world.served.context.helpdesk.keys_in_progress == {}


class OfAnotherServer(dict[Any, trio.Event]):
    """Knows of no request that is in progress, as a server whose requests go to another one."""

    def get(self, *_: Any) -> None:
        return None

    def __delitem__(self, key: Any) -> None:
        self.pop(key, None)


async def test_a_request_sent_to_two_servers_at_once_is_done_once(world: Any) -> None:
    world.served.context.helpdesk.keys_in_progress = OfAnotherServer()
    body, key = {"companyId": world.id, "subject": "x"}, {"Idempotency-Key": "k"}
    answers = await at_once([post(world.chief, "/tickets", body, **key) for _ in range(10)])
    assert [answer.status for answer in answers] == [200] * 10
    assert len({answer.body for answer in answers}) == 1
    path = f"/tickets/{answers[0].json()['id']}"
    answers = await at_once([post(world.chief, f"{path}/comments", {"text": "x"}, **key) for _ in range(10)])
    assert len({answer.body for answer in answers}) == 1
    assert (await world.chief.get(path)).json()["commentCount"] == 1
    count = "select count(*), max(last_ticket_number) from tickets, companies"
    assert tuple((await world.database.fetch_row(count)).values()) == (1, 1)


async def test_an_external_reference_is_used_once_however_often_it_is_sent(world: Any) -> None:
    body = {"companyId": world.id, "subject": "x", "uniqueId": "A-1"}
    answers = await at_once([post(world.chief, "/tickets", body) for _ in range(20)])
    assert [answer.status for answer in answers] == [200] * 20
    assert len({answer.json()["id"] for answer in answers}) == 1


async def test_no_cycle_comes_of_parents_set_at_once(world: Any) -> None:
    ids = [(await make(world))["id"] for _ in range(4)]
    pairs = [(child, parent) for child in ids for parent in ids if child != parent]
    random.Random(7).shuffle(pairs)
    await at_once(
        [
            lambda child=child, parent=parent: world.chief.put(f"/tickets/{child}", json={"parentId": parent})
            for child, parent in pairs
        ]
    )
    rows = await world.database.fetch("select id, coalesce(parent_id, 0) from tickets")
    above = {row[0]: row[1] for row in rows}
    for ticket_id in ids:
        seen, at = set(), ticket_id
        while at:
            assert at not in seen
            seen.add(at)
            at = above[at]


async def test_eight_who_change_tickets_at_once_leave_what_one_after_another_would(
    world: Any, seed: int
) -> None:
    """The versions that requests were answered are an order of them; a model takes them in that order."""
    tickets = [await make(world) for _ in range(3)]
    done: list[tuple[int, int, str, Any]] = []

    async def work(number: int) -> None:
        chance = random.Random(seed * 100 + number)
        client = (world.chief, world.ann)[number % 2]
        for step in range(8):
            ticket_id = chance.choice(tickets)["id"]
            path = f"/tickets/{ticket_id}"
            kind = chance.choice(["comment", "move", "assign", "subject", "tags"])
            if kind == "comment":
                answer = await client.post(f"{path}/comments", json={"text": f"{number}.{step}"})
                sent: Any = 1
            elif kind == "move":
                sent = world.statuses[chance.choice(["In progress", "Waiting for contact", "Resolved"])]
                answer = await client.post(f"{path}/transition", json={"statusId": sent})
            elif kind == "assign":
                sent = chance.choice([0, world.chief.id, world.ann.id])
                answer = await client.post(f"{path}/assign", json={"assigneeId": sent})
            elif kind == "subject":
                sent = f"{number}.{step}"
                answer = await client.put(path, json={"subject": sent})
            else:
                sent = {"tags": [f"{number}.{step}"]}
                answer = await client.put(path, json={"attributes": sent})
            assert answer.status in {200, 400}, answer.text
            if answer.status == 200:
                done.append((ticket_id, answer.json()["version"], kind, sent))
            else:
                assert kind == "move"

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(work, number)

    for ticket in tickets:
        of_ticket = [each[1:] for each in done if each[0] == ticket["id"]]
        model = {"commentCount": 0} | {name: ticket[name] for name in FIELDS.values()}
        latest = max((version for version, _, _ in of_ticket), default=1)
        for version in range(1, latest + 1):
            together = [(kind, sent) for at, kind, sent in of_ticket if at == version]
            model = replay(model, together, is_first=version == 1)
        now = (await world.chief.get(f"/tickets/{ticket['id']}")).json()
        assert now["version"] == latest
        assert {name: now[name] for name in model} == model


FIELDS = {"move": "statusId", "assign": "assigneeId", "subject": "subject", "tags": "attributes"}


def replay(model: dict[str, Any], together: list[tuple[str, Any]], *, is_first: bool) -> dict[str, Any]:
    """The model after requests that were answered the same version: one made it, others changed nothing."""
    if is_first:
        assert all(changes_nothing(model, kind, sent) for kind, sent in together)
        return model
    for place, (kind, sent) in enumerate(together):
        if kind == "comment":
            new = {**model, "commentCount": model["commentCount"] + 1}
        else:
            new = {**model, FIELDS[kind]: sent}
        others = together[:place] + together[place + 1 :]
        if new != model and all(changes_nothing(new, *other) for other in others):
            return new
    raise AssertionError(f"none of {together} leads on from {model}")


def changes_nothing(model: dict[str, Any], kind: str, sent: Any) -> bool:
    return kind != "comment" and bool(model[FIELDS[kind]] == sent)
