from dataclasses import replace

import msgspec
import pytest
from quart import request

from motorpool.api.auth.caller import Caller
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import COMMON_PARAMETERS
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource, ResourcePolicy
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.http.errors import BadRequest, ResourceNotFound
from motorpool.api.resources.linked_policy import LinkedPolicy
from motorpool.storage.accounts import links, users
from motorpool.storage.devices import commands
from motorpool.storage.records import Command

# What a further family needs: one declaration.
COMMANDS = Resource(
    name="command",
    path="commands",
    policy=LinkedPolicy(commands.TABLE, links.USER_COMMAND, filters=(links.DEVICE_COMMAND,)),
    parameters=COMMON_PARAMETERS | {"device_id"},
)


def test_a_declaration_gives_five_operations():
    operations = Operations("commands")
    add_resource_operations(COMMANDS, operations)
    assert [(each.method, each.path, each.name) for each in operations] == [
        ("GET", "/commands", "listCommands"),
        ("POST", "/commands", "createCommand"),
        ("GET", "/commands/{id}", "getCommand"),
        ("PUT", "/commands/{id}", "updateCommand"),
        ("DELETE", "/commands/{id}", "deleteCommand"),
    ]
    listing, create, fetch, update, delete = operations
    assert listing.answers[200].shape == list[Command]
    assert create.body is update.body is Command
    assert fetch.body is delete.body is None
    assert list(delete.answers) == [204]
    assert not any(each.public for each in operations)


def test_a_family_takes_the_parameters_it_declares():
    names = {field.encode_name for field in msgspec.structs.fields(COMMANDS.query)}
    assert names == {
        "all",
        "userId",
        "deviceId",
        "keyword",
        "limit",
        "offset",
        "excludeAttributes",
        "refresh",
    }


class Candid(LinkedPolicy[Command]):
    """Tells everybody which ids there are."""

    distinguishes_missing = frozenset({"GET", "PUT", "DELETE"})


@pytest.mark.parametrize("policy", [LinkedPolicy, Candid])
async def test_a_family_may_tell_an_unknown_id_from_one_without_access(served, database, policy):
    operations = Operations("commands")
    add_resource_operations(replace(COMMANDS, policy=policy(commands.TABLE, links.USER_COMMAND)), operations)
    serve = {(each.method, "{" in each.path): each.serve for each in operations}
    hidden = (await commands.TABLE.insert(database, Command(type="custom"))).id
    ann = await served.user("ann")
    app = served.app

    async def refusal(method, user_id, number):
        """The class of the refusal; None for an answer."""
        async with app.test_request_context("/", method="PUT", json={"type": "custom"}):
            call = Call(served.context, request._get_current_object(), {"id": number})
            row = await users.TABLE.fetch(database, user_id)
            call.optional_caller = Caller(user=row, server=served.context.server)
            try:
                await serve[method, True](call)
            except (BadRequest, ResourceNotFound) as refused:
                return type(refused)
        return None

    candid = policy is Candid
    for method, unseen, unknown, admins in (
        ("GET", BadRequest if candid else ResourceNotFound, ResourceNotFound, ResourceNotFound),
        ("PUT", BadRequest, ResourceNotFound if candid else BadRequest, ResourceNotFound),
        ("DELETE", BadRequest, ResourceNotFound if candid else BadRequest, ResourceNotFound),
    ):
        assert await refusal(method, ann.id, hidden) is unseen, method
        assert await refusal(method, ann.id, hidden + 1) is unknown, method
        assert await refusal(method, served.admin_id, hidden + 1) is admins, method
    described = {(each.method, "{" in each.path): each.errors for each in operations}
    assert described["GET", True] == ((400,) if candid else ())


def test_what_a_family_does_not_say_is_the_plain():
    assert isinstance(COMMANDS.policy, ResourcePolicy)
    assert COMMANDS.policy.distinguishes_missing == frozenset()
    assert COMMANDS.read_only == ()
    assert not COMMANDS.public_create
