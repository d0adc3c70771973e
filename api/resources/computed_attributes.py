"""Computed attributes: expressions evaluated for each position (docs/computed-attributes.md)."""

import msgspec
import trio
from quart import Response

from motorpool.actors.messages.changes import AttributeChanged
from motorpool.actors.messages.directory import DIRECTORY, GetLatestPositions
from motorpool.actors.rules.computed import TYPES, convert, used_names, variables_of
from motorpool.actors.rules.expressions import Expression, ExpressionError, compile_expression
from motorpool.api.access import require_device_for_change
from motorpool.api.auth.rights import TEST_ATTRIBUTES
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import COMMON_PARAMETERS
from motorpool.api.engine.operations import NO_CONTENT, BodyRules, Content, Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations
from motorpool.api.engine.text_rules import MAX_NAME_LENGTH, TextRules
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json, as_text, no_content
from motorpool.api.resources.linked_policy import LinkedPolicy
from motorpool.storage import plain_tables
from motorpool.storage.accounts import links
from motorpool.storage.records import ComputedAttribute

OPERATIONS = Operations("attributes")


class ComputedAttributePolicy(LinkedPolicy[ComputedAttribute]):
    """Linked users read; administrators write."""

    async def read(self, call: Call, shape: type[ComputedAttribute]) -> ComputedAttribute:
        """Validate before a transaction is begun: compiling an expression may take a tenth of a second."""
        sent = await call.body(shape)
        if not sent.attribute.strip():
            raise BadRequest("attribute: needed")
        if len(sent.attribute) > MAX_NAME_LENGTH:
            raise BadRequest(f"attribute: longer than {MAX_NAME_LENGTH} characters")
        await _compiled(sent)
        return sent


async def _compiled(sent: ComputedAttribute) -> Expression:
    if sent.type.lower() not in TYPES:
        raise BadRequest("type: not one of String, Number, Boolean")
    try:
        # In a thread, since it takes long; the first expression also builds the parser.
        return await trio.to_thread.run_sync(compile_expression, sent.expression)
    except ExpressionError as error:
        raise BadRequest(f"expression: {error}") from None


COMPUTED_ATTRIBUTES = Resource(
    name="attribute",
    path="attributes/computed",
    change=AttributeChanged,
    policy=ComputedAttributePolicy(
        plain_tables.COMPUTED_ATTRIBUTES,
        links.USER_ATTRIBUTE,
        filters=(links.DEVICE_ATTRIBUTE, links.GROUP_ATTRIBUTE),
        texts=TextRules({"attribute": MAX_NAME_LENGTH}, required=("attribute", "expression", "type")),
    ),
    parameters=COMMON_PARAMETERS - {"exclude_attributes"} | {"device_id", "group_id"},
)
add_resource_operations(COMPUTED_ATTRIBUTES, OPERATIONS)


class ComputedTestQuery(msgspec.Struct, rename="camel"):
    """Whose latest position is meant."""

    device_id: int
    """The attribute is computed for the latest position of this device."""


@OPERATIONS.operation(
    "POST",
    "/attributes/computed/test",
    query=ComputedTestQuery,
    body=ComputedAttribute,
    body_rules=BodyRules(required=("expression", "type")),
    answers={
        200: Content(shape=float | bool, text="The value; a text as it is", or_text=True),
        204: NO_CONTENT,
    },
)
async def test_computed_attribute(call: Call) -> Response:
    """Compute an attribute of a device's latest position and store nothing."""
    TEST_ATTRIBUTES.require(call.caller)
    query = call.query(ComputedTestQuery)
    sent = await call.body(ComputedAttribute)
    expression = await _compiled(sent)
    await require_device_for_change(call, query.device_id)
    latest = await call.context.system.ref(DIRECTORY).ask(GetLatestPositions((query.device_id,)))
    if not latest:
        raise BadRequest("the device has no position yet")
    try:
        known = variables_of(used_names(expression.names), latest[0].attributes, latest[0])
        value = convert(sent, expression.evaluate(known))
    except ExpressionError as error:
        raise BadRequest(f"expression: {error}") from None
    if value is None:
        return no_content()
    return as_text(value) if isinstance(value, str) else as_json(value)
