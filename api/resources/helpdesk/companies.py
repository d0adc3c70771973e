"""Companies (docs/helpdesk.md#companies)."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import msgspec
from quart import Response

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.helpdesk.ticket_rules import KEY as RULES
from motorpool.actors.helpdesk.webhook_settings import KEY as WEBHOOK
from motorpool.actors.helpdesk.webhook_settings import WebhookRefused, validate_change
from motorpool.actors.messages.changes import CompanyChanged, LinkChanged
from motorpool.api.engine.call import Call
from motorpool.api.engine.list_parameters import COMMON_PARAMETERS, ListParameters
from motorpool.api.engine.operations import Operations
from motorpool.api.engine.resource import Resource
from motorpool.api.engine.resource_operations import add_resource_operations, fetch_readable
from motorpool.api.engine.time_zones import require_time_zone
from motorpool.api.http.errors import BadRequest
from motorpool.api.http.responses import as_json
from motorpool.api.resources import quotas
from motorpool.api.resources.helpdesk.caller_membership import membership_of, memberships_of, require_manager
from motorpool.api.resources.helpdesk.company_policy import narrowed, whole_number
from motorpool.api.resources.helpdesk.rule_settings import checked_rules, keep_rules
from motorpool.api.resources.linked_policy import LinkedPolicy, check_attributes
from motorpool.storage.accounts import links, users
from motorpool.storage.database.conditions import Condition
from motorpool.storage.database.queries import Queries
from motorpool.storage.database.tables import ListQuery, Versioned
from motorpool.storage.helpdesk import companies, company_tables
from motorpool.storage.helpdesk.helpdesk_records import Company, CompanyUser

OPERATIONS = Operations("companies")

TIME_ZONE = "timezone"
MAX_DAYS = 3650
"""Maximum of the settings `reopenDays` and `autoCloseDays`."""


class CompanyOfManager(Company, frozen=True, rename="camel"):
    """A company as its managers and administrators see it: with the secrets of its webhook."""

    shows_secrets: ClassVar[bool] = True


class CompaniesPolicy(LinkedPolicy[Company]):
    """Whoever creates a company becomes its manager; linked users read, managers edit and delete."""

    distinguishes_missing = frozenset({"GET", "PUT", "DELETE"})
    privileged = ("name", "disabled")
    max_attributes_bytes = 262_144  # a hundred ticket rules are among them
    audited_attributes = (TIME_ZONE, "reopenDays", "autoCloseDays")

    def __init__(self) -> None:
        super().__init__(
            company_tables.COMPANIES, links.USER_COMPANY, user_id_expands=True, required=("name",)
        )

    async def list_query(self, call: Call, parameters: ListParameters) -> ListQuery:
        """Add the filters `role` and `uniqueId`; what is filtered by role has its attributes."""
        if parameters.role:
            parameters = msgspec.structs.replace(parameters, exclude_attributes=False)
        query = await super().list_query(call, parameters)
        if parameters.role:
            query = narrowed(query, companies.with_role(parameters.role))
        if parameters.unique_id:
            query = narrowed(query, Condition("unique_id = any({0}::text[])", (list(parameters.unique_id),)))
        return query

    async def validate(self, sent: Company) -> Company:
        """Check what the server reads of the attributes, but the webhook."""
        for key in ("reopenDays", "autoCloseDays"):
            whole_number(sent, key, MAX_DAYS)
        roles = sent.attributes.get("roles")
        is_list = isinstance(roles, list) and all(isinstance(role, str) for role in roles)
        if not (roles is None or isinstance(roles, str) or is_list):
            raise BadRequest("attributes.roles: neither a list of texts nor a text")
        return sent

    async def lock(self, call: Call, transaction: Queries) -> Versioned[Company] | None:
        """Lock the row; a company is configured by one request after the other."""
        await companies.lock_configuration(transaction, call.id)
        return await super().lock(call, transaction)

    async def require_write(self, call: Call, transaction: Queries, record: Company) -> None:
        """Refuse users who are linked to the company and nothing more."""
        require_manager(await membership_of(call, record.id, transaction))

    async def prepare(self, call: Call, transaction: Queries, new: Company, old: Company | None) -> Company:
        """Check the time zone, the webhook and the ticket rules."""
        held = {} if old is None else old.attributes
        require_time_zone(TIME_ZONE, new.attributes, held)
        try:
            attributes = validate_change(
                None if old is None else held, new.attributes, call.now, call.context.outgoing.http.guard
            )
        except WebhookRefused as error:
            raise BadRequest(f"attributes.{error}") from None
        attributes = await checked_rules(call, transaction, new.id, held, attributes)
        new = msgspec.structs.replace(new, attributes=attributes)
        check_attributes(new, old, self.max_attributes_bytes)
        return new

    async def insert(self, call: Call, transaction: Queries, new: Company) -> Company:
        """Store; the creator is its manager."""
        await _require_room(call, transaction)
        stored = await self.table.insert(transaction, new, **self.new_columns(call, new))
        assert isinstance(stored, Company)
        await quotas.require_room(call, transaction, new, self.table.name)
        await companies.add_first_manager(transaction, call.caller.id, stored.id)
        if RULES in stored.attributes:
            await keep_rules(transaction, stored.id, stored.attributes)
        link = LinkChanged("user", call.caller.id, "company", stored.id)
        call.after_commit.append(partial(publish_changes, call.context.system, link))
        return stored

    async def update(self, call: Call, transaction: Queries, new: Company, old: Company) -> Company | None:
        """Store; events are left to the new ticket rules from now on."""
        if RULES in old.attributes or RULES in new.attributes:
            await keep_rules(transaction, old.id, new.attributes)
        return await super().update(call, transaction, new, old)

    async def delete(self, call: Call, transaction: Queries, old: Company) -> None:
        """Delete with all that belongs to it."""
        del call
        await companies.delete_with_everything(transaction, old.id)

    def audited(self, old: Company | None, new: Company | None) -> Mapping[str, Any]:
        """Add where messages go."""
        found = {**super().audited(old, new)}
        before, after = _webhook_url(old), _webhook_url(new)
        if before != after:
            found[f"attributes.{WEBHOOK}.url"] = {"before": before, "after": after}
        return found

    async def show(self, call: Call, records: Sequence[Company]) -> list[Company]:
        """Show managers and administrators the secrets of the webhook."""
        if not any(WEBHOOK in record.attributes for record in records):
            return list(records)
        if call.caller.administrator:
            return [_with_secrets(record) for record in records]
        found = await memberships_of(call)
        return [
            _with_secrets(record) if record.id in found and found[record.id].manager else record
            for record in records
        ]


async def _require_room(call: Call, transaction: Queries) -> None:
    """Raise BadRequest if the caller may create no more companies.

    Their row is locked, so that each of several parallel requests counts what the ones before it created.
    """
    if call.caller.administrator:
        return
    most = call.context.settings.tickets.companies_per_user
    await users.TABLE.fetch(transaction, call.caller.id, lock=True)
    created = Condition("creator_id = {0}", (call.caller.id,))
    if await company_tables.COMPANIES.count(transaction, created) >= most:
        raise BadRequest(f"you have created {most} companies, which are the most a user may have")


def _webhook_url(company: Company | None) -> str | None:
    webhook = None if company is None else company.attributes.get(WEBHOOK)
    return webhook.get("url") if isinstance(webhook, dict) else None


def _with_secrets(company: Company) -> CompanyOfManager:
    return CompanyOfManager(*(getattr(company, name) for name in Company.__struct_fields__))


COMPANIES = Resource(
    name="company",
    path="companies",
    change=CompanyChanged,
    policy=CompaniesPolicy(),
    parameters=COMMON_PARAMETERS | {"role", "unique_id"},
)
add_resource_operations(COMPANIES, OPERATIONS)


@OPERATIONS.operation("GET", "/companies/{id}/users", answer=list[CompanyUser], errors=(400,))
async def list_company_users(call: Call) -> Response:
    """The users who are linked to a company, sorted by name: whom its tickets may be given to.

    Agents and managers of the company, and administrators, see all of them; others only themselves.
    """
    company = (await fetch_readable(call, COMPANIES)).record
    database = call.context.database
    sees_all = (await membership_of(call, company.id)).handles_tickets
    return as_json(await companies.linked_users(database, company.id, 0 if sees_all else call.caller.id))
