"""Links of users to companies and teams: who makes and ends them, and what they give."""

import pytest

from motorpool.storage.helpdesk import companies
from motorpool.storage.helpdesk.companies import Membership

NO_ACCESS = "no access to it, or no such"


async def end(client, **link):
    return await client.delete("/permissions", json=link)


async def membership(desk, client):
    return await companies.membership(desk.database, client.id, desk.id)


@pytest.fixture
async def team(desk):
    return (await desk.make("teams", name="Workshop"))["id"]


@pytest.fixture
async def boss(desk):
    """A manager of the company who manages the users Bob and, once linked, nobody else of it."""
    boss = await desk.served.user("boss", userLimit=-1)
    assert (await desk.link(desk.served.admin, userId=boss.id, companyId=desk.id)).status == 204
    made = await boss.post("/users", json={"name": "bob", "email": "bob@example.org", "password": "bob"})
    boss.bob = await desk.served.log_in("bob@example.org", "bob")
    boss.bob.id = made.json()["id"]
    return boss


async def test_managers_link_the_users_whom_they_manage(desk, boss):
    answer = await desk.link(boss, userId=boss.bob.id, companyId=desk.id)
    assert answer.status == 204
    assert (await boss.bob.get(f"/companies/{desk.id}")).status == 200
    for client, link, text in [
        (boss, {"userId": desk.stranger.id, "companyId": desk.id}, f"userId: {NO_ACCESS}"),
        (boss, {"userId": boss.bob.id, "companyId": 4711}, f"companyId: {NO_ACCESS}"),
        # The creator manages the company, but no users.
        (desk.chief, {"userId": boss.bob.id, "companyId": desk.id}, f"userId: {NO_ACCESS}"),
        (desk.ann, {"userId": desk.ann.id, "companyId": desk.id}, f"companyId: {NO_ACCESS}"),
        (desk.stranger, {"userId": desk.stranger.id, "companyId": desk.id}, f"companyId: {NO_ACCESS}"),
    ]:
        answer = await desk.link(client, **link)
        assert (answer.status, answer.text) == (400, text), link


async def test_a_manager_ends_any_link_to_the_company_and_with_it_the_access(desk, boss, team):
    assert (await desk.served.admin.put(f"/teams/{team}/members/{desk.ann.id}")).status == 204
    for client in (desk.ann, desk.stranger):
        assert (await end(client, userId=desk.chief.id, companyId=desk.id)).status == 400
    assert (await end(boss, userId=desk.ann.id, companyId=desk.id)).status == 204
    for path in (f"/companies/{desk.id}", f"/teams/{team}", f"/teams/{team}/members"):
        assert (await desk.ann.get(path)).status == 400
    # Who is not linked any more is no member of a team either.
    assert (await boss.get(f"/teams/{team}/members")).json() == []
    assert await membership(desk, desk.ann) == companies.NO_MEMBERSHIP
    assert (await end(boss, userId=desk.ann.id, companyId=desk.id)).status == 204


async def test_members_of_a_team_become_linked_to_the_company(desk, boss, team):
    for _ in range(2):
        assert (await boss.put(f"/teams/{team}/members/{boss.bob.id}")).status == 204
    assert await membership(desk, boss.bob) == Membership(linked=True, agent=True)
    member = {"id": boss.bob.id, "name": "bob", "email": "bob@example.org"}
    assert (await boss.bob.get(f"/teams/{team}/members")).json() == [member]
    assert (await boss.delete(f"/teams/{team}/members/{boss.bob.id}")).status == 204
    # Ann, who is linked, is an agent again as well, now that no team has a member.
    assert (
        await membership(desk, boss.bob)
        == await membership(desk, desk.ann)
        == Membership(linked=True, agent=True)
    )
    answer = await desk.link(boss, userId=boss.bob.id, teamId=team)
    assert answer.status == 204
    assert await membership(desk, desk.ann) == Membership(linked=True)
    assert (await end(boss, userId=boss.bob.id, teamId=team)).status == 204
    rows = await desk.database.fetch(
        "select action_type, object_type from audit where object_type in ('team', 'company')"
        " and attributes->'ownerId' = to_jsonb($1::bigint) order by id",
        boss.bob.id,
    )
    linked = [("link", "team"), ("link", "company"), ("link", "team"), ("unlink", "team")]
    assert [tuple(row.values()) for row in rows] == [*linked, ("link", "team"), ("unlink", "team")]


async def test_only_managers_of_the_company_change_its_teams(desk, boss, team):
    path = f"/teams/{team}/members"
    for client, user, text in [
        (desk.ann, desk.ann, "only managers of the company may do this"),
        (desk.stranger, desk.stranger, "no access to the team"),
        (boss, desk.stranger, f"userId: {NO_ACCESS}"),
        (desk.chief, desk.ann, f"userId: {NO_ACCESS}"),
    ]:
        answer = await client.put(f"{path}/{user.id}")
        assert (answer.status, answer.text) == (400, text)
    assert (await desk.ann.delete(f"{path}/{desk.ann.id}")).status == 400
    assert (await boss.put(f"/teams/4711/members/{boss.id}")).status == 404
    assert (await desk.served.admin.put(f"{path}/4711")).status == 404
    assert (await boss.put(f"{path}/4711")).text == f"userId: {NO_ACCESS}"
    assert (await boss.delete(f"{path}/4711")).status == 204
    assert (await desk.link(boss, userId=boss.bob.id, teamId=4711)).text == f"teamId: {NO_ACCESS}"


async def test_a_temporary_user_is_of_no_company(desk, team):
    number = await desk.served.device(desk.served.admin, "1")
    form = {"deviceId": str(number), "expiration": "2026-06-01T00:00:00Z"}
    token = (await desk.served.admin.post("/share/device", form=form)).text
    guest = desk.served.client({"Authorization": f"Bearer {token}"})
    guest_id = (await guest.get("/session")).json()["id"]
    admin = desk.served.admin
    for link in ({"companyId": desk.id}, {"teamId": team}):
        answer = await desk.link(admin, userId=guest_id, **link)
        assert (answer.status, answer.text) == (400, f"userId: {NO_ACCESS}")
    assert (await admin.put(f"/teams/{team}/members/{guest_id}")).status == 400


async def test_links_in_bulk_are_all_or_none(desk, boss, team):
    sent = [{"userId": boss.bob.id, "teamId": team}, {"userId": desk.stranger.id, "teamId": team}]
    answer = await boss.post("/permissions/bulk", json=sent)
    assert (answer.status, answer.text) == (400, f"[1].userId: {NO_ACCESS}")
    assert (await boss.get(f"/teams/{team}/members")).json() == []
    assert (await desk.served.admin.post("/permissions/bulk", json=sent)).status == 204
    assert len((await boss.get(f"/teams/{team}/members")).json()) == 2
    assert (await membership(desk, desk.stranger)).linked


async def test_the_links_of_a_company_are_listed_for_administrators(desk):
    answer = await desk.served.admin.get(f"/permissions?userId=0&companyId={desk.id}")
    users = {desk.chief.id, desk.ann.id}
    assert answer.json() == [{"userId": number, "companyId": desk.id} for number in sorted(users)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # Who is in which team; whether the teams are disabled.
        ({}, Membership(linked=True, agent=True)),
        ({"other": [("team", False)]}, Membership(linked=True)),
        ({"ann": [("team", False)]}, Membership(linked=True, agent=True)),
        ({"ann": [("team", True)]}, Membership(linked=True)),
        ({"ann": [("a", True), ("b", False)]}, Membership(linked=True, agent=True)),
        ({"other": [("team", True)]}, Membership(linked=True)),
    ],
)
async def test_agents_are_members_of_enabled_teams_or_all_while_no_team_has_a_member(desk, rows, expected):
    people = {"ann": desk.ann, "other": desk.chief}
    for name, memberships in rows.items():
        for team_name, disabled in memberships:
            team = (await desk.make("teams", name=team_name, disabled=disabled))["id"]
            await desk.database.execute("insert into user_team values ($1, $2)", people[name].id, team)
    assert await membership(desk, desk.ann) == expected
    assert (await companies.memberships(desk.database, desk.ann.id)) == {desk.id: expected}
    assert await companies.membership(desk.database, desk.ann.id, 2**63) == companies.NO_MEMBERSHIP
