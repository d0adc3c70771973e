"""Who is linked to a company, and what callers are told of their own roles."""


async def users(client, company_id):
    answer = await client.get(f"/companies/{company_id}/users")
    assert answer.status == 200, answer.text
    return answer.json()


async def roles(desk, client):
    return {each["id"]: role_of(each) for each in await users(client, desk.id)}


def role_of(user):
    return "manager" if user["manager"] else "agent" if user["agent"] else "linked"


async def test_agents_see_everybody_with_role_and_teams_and_others_themselves_alone(desk):
    workshop = (await desk.make("teams", name="Workshop"))["id"]
    night = (await desk.make("teams", name="Night"))["id"]
    # Without a member of any team everybody who is linked handles tickets.
    assert await roles(desk, desk.ann) == {desk.chief.id: "manager", desk.ann.id: "agent"}
    reader = await desk.served.user("reader", readonly=True)
    await desk.link(desk.served.admin, userId=reader.id, companyId=desk.id)
    for team in (workshop, night):
        assert (await desk.chief.put(f"/teams/{team}/members/{desk.chief.id}")).status == 204
    everybody = await users(desk.chief, desk.id)
    assert everybody == await users(desk.served.admin, desk.id)
    assert [(each["name"], role_of(each), each["teamIds"]) for each in everybody] == [
        ("ann", "linked", []),
        ("chief", "manager", [workshop, night]),
        ("reader", "linked", []),
    ]
    assert everybody[:1] == await users(desk.ann, desk.id)
    assert everybody[2:] == await users(reader, desk.id)
    # A disabled team has no agents, and what is read-only is no manager either.
    assert (await desk.served.admin.put(f"/teams/{night}/members/{desk.ann.id}")).status == 204
    assert (await roles(desk, desk.ann))[desk.ann.id] == "agent"
    team = (await desk.chief.get(f"/teams/{night}")).json()
    assert (await desk.chief.put(f"/teams/{night}", json={**team, "disabled": True})).status == 200
    assert await roles(desk, desk.ann) == {desk.ann.id: "linked"}
    assert (await desk.stranger.get(f"/companies/{desk.id}/users")).status == 400


async def test_callers_learn_what_they_are_in_each_company(desk):
    async def told(client):
        return (await client.get("/companies/roles")).json()

    assert await told(desk.chief) == [{"companyId": desk.id, "role": "manager"}]
    assert await told(desk.ann) == [{"companyId": desk.id, "role": "agent"}]
    assert await told(desk.stranger) == []
    admin = desk.served.admin
    assert await told(admin) == []
    await desk.link(admin, userId=desk.served.admin_id, companyId=desk.id)
    assert await told(admin) == [{"companyId": desk.id, "role": "administrator"}]
    assert (await roles(desk, admin))[desk.served.admin_id] == "manager"
    reader = await desk.served.user("reader", readonly=True, userLimit=5)
    await desk.link(admin, userId=reader.id, companyId=desk.id)
    assert await told(reader) == [{"companyId": desk.id, "role": "linked"}]
