import msgspec

from motorpool.api.engine.family import USUAL, Conduct, Family, serve_family
from motorpool.api.engine.linked import Linked
from motorpool.api.engine.operations import Operations
from motorpool.storage import commands, links
from motorpool.storage.records import Command

# What a further family needs: one declaration.
COMMANDS = Family(
    name="command",
    path="commands",
    shape=Command,
    table=commands.TABLE,
    conduct=Linked(commands.TABLE, links.USER_COMMAND, device_link=links.DEVICE_COMMAND),
    parameters=USUAL | {"device_id"},
)


def test_a_declaration_gives_five_operations():
    operations = Operations("commands")
    serve_family(COMMANDS, operations)
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


def test_what_a_family_does_not_say_is_the_plain():
    assert isinstance(COMMANDS.conduct, Conduct)
    assert COMMANDS.read_only == ()
    assert not COMMANDS.public_create
