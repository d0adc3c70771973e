"""Whether a connection that logs in is the device: what it is bound to, and what it has to present
(docs/devices.md#who-a-device-is).

Part of the device's actor. Most logins are decided from memory; the database is asked for the first one of a
device and for those that differ, of which few are written down, however many come.
"""

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal

from motorpool.actors.devices.device_positions import DevicePositions
from motorpool.actors.devices.device_session import DeviceSession
from motorpool.actors.messages.uplink import CodeIssued, Connected, LoginRefused
from motorpool.actors.rules.identity_rules import NONE, REGISTRATION, IdentityRules, digest, is_same
from motorpool.codecs.devices import CODECS
from motorpool.codecs.reports import Secret
from motorpool.storage.database.database import Database
from motorpool.storage.devices import device_bindings
from motorpool.storage.devices.device_bindings import Binding, DifferingLogin
from motorpool.storage.errors import StorageError

EVENT: Final = "deviceLoginRefused"
REGISTRATION_FIELDS: Final = ("manufacturer", "model", "terminalId")
"""What must stay the same in JT/T 808 registrations."""
CODE_BYTES: Final = 8
"""Random bytes of an authentication code, twice as many characters: some terminals keep no more than 20."""

Reason = Literal["protocol", "registration", "network", "secret"]
Differs = tuple[Reason, str]
"""What differs, and in words."""
_NONE_NOTED: Mapping[tuple[str, str], datetime] = {}
"""Shared by the devices under whose names nobody else has come."""


class DeviceIdentity:
    """What the device is bound to, and what the logins of its connections are compared with."""

    __slots__ = ("_binding", "_database", "_noted", "_positions", "_session")

    def __init__(
        self,
        session: DeviceSession,
        database: Database,
        positions: DevicePositions,
        binding: Binding | None,
    ) -> None:
        """`binding` is that in the database."""
        self._session = session
        self._database = database
        self._positions = positions
        self._binding = binding
        self._noted = _NONE_NOTED
        """When a login was last written down that differed, by its protocol and what differed."""

    def follow(self, binding: Binding | None) -> None:
        """Take the binding that was just read; connections log in again if it is another one."""
        if binding != self._binding:
            # What this actor has added itself is no reason to.
            known, self._binding = self._binding, binding
            if known is not None and (binding is None or _contradicts(binding, known)):
                self._session.have_all_log_in_again()

    @property
    def _has_code(self) -> bool:
        return self._binding is not None and self._binding.code is not None

    def is_known(self, login: Connected) -> bool:
        """Whether the login is that of the device beyond doubt, without a look at the database."""
        rules = self._session.current_rules().identity
        if self._differs(login, rules) is not None:
            return False
        if self._needs_code(login, rules) and (login.wants_code or not self._has_code):
            return False
        if self._binding is None:
            return rules.binding == NONE
        return self._registration_of(login) in (None, self._binding.registration)

    async def decide(self, login: Connected) -> LoginRefused | CodeIssued | None:
        """Return why a login is refused, or the code that it gets, or None if it is accepted.

        Binds the device where it is not bound. Raises StorageError.
        """
        rules = self._session.current_rules().identity
        needs_code = self._needs_code(login, rules)
        differs = self._differs(login, rules)
        if differs is None and self._binding is None and (needs_code or rules.binding != NONE):
            await self._bind(login)
            differs = self._differs(login, rules)
        if differs is None and not (needs_code and login.wants_code and self._has_code):
            differs = await self._compare_registration(login, rules)
        if differs is None and needs_code:
            if login.wants_code:
                issued = None if self._has_code else await self._issue_code()
                if issued is not None:
                    return issued
                differs = "secret", "it registers again, though it has a code"
            elif login.secret is not None and not self._has_code:
                self._binding = await self._keep_code(digest(login.secret))
                differs = self._differs(login, rules)
        if differs is None:
            return None
        reason, text = differs
        await self._note(login, reason, refused=True)
        return LoginRefused(text)

    def _differs(self, login: Connected, rules: IdentityRules) -> Differs | None:
        """Return what differs from what is known; None also where nothing is known yet."""
        if not rules.permits_host(login.peer):
            return "network", "not from one of its networks"
        if rules.protocols:
            if login.protocol not in rules.protocols:
                return "protocol", f"its protocols are {', '.join(sorted(rules.protocols))}"
        elif rules.binding != NONE and self._binding is not None and login.protocol != self._binding.protocol:
            return "protocol", f"its protocol is {self._binding.protocol}"
        return None if rules.secret is None else self._secret_differs(login, rules.secret)

    def _secret_differs(self, login: Connected, secret: Secret) -> Differs | None:
        codec = CODECS[login.protocol]
        if not codec.carries_secret:
            return "secret", f"{login.protocol} cannot present its secret"
        if codec.request_response:
            return None if is_same(login.secret, secret) else ("secret", "its secret is missing or wrong")
        if login.wants_code:
            return None
        if login.secret is None:
            return "secret", "it has not presented its code"
        known = None if self._binding is None else self._binding.code
        if known is None:
            # The code of those that registered before there was a secret; who knows the number knows it.
            guessed = {"", *(each.lstrip("0") for each in login.unique_ids)}
            is_guessed = login.secret.text.lstrip("0") in guessed
            return ("secret", "its code is its number: it has to register") if is_guessed else None
        is_right = secrets.compare_digest(digest(login.secret), known)
        return None if is_right else ("secret", "its code is wrong")

    def _needs_code(self, login: Connected, rules: IdentityRules) -> bool:
        """Whether the login is one of those that present a code, and not the secret itself."""
        return rules.secret is not None and not CODECS[login.protocol].request_response

    async def _bind(self, login: Connected) -> None:
        session = self._session
        self._binding = await device_bindings.bind(
            self._database,
            session.device_id,
            login.protocol,
            session.context.clock.now(),
            self._registration_of(login),
        )
        if self._binding is not None and self._binding.protocol == login.protocol:
            session.context.log.info("bound to %s", login.protocol)

    async def _issue_code(self) -> CodeIssued | None:
        """Return a new code, of which the digest is stored; None if there is one, which its terminal has."""
        code = Secret(secrets.token_hex(CODE_BYTES))
        stored = digest(code)
        self._binding = await self._keep_code(stored)
        return CodeIssued(code) if self._binding is not None and self._binding.code == stored else None

    async def _keep_code(self, code: bytes) -> Binding | None:
        return await device_bindings.keep_code(self._database, self._session.device_id, code)

    def _registration_of(self, login: Connected) -> Mapping[str, str] | None:
        """Return what is compared of a registration; None if the login is none, or says nothing."""
        found = {
            name: str(login.registration[name]) for name in REGISTRATION_FIELDS if name in login.registration
        }
        return found if login.wants_code and found else None

    async def _compare_registration(self, login: Connected, rules: IdentityRules) -> Differs | None:
        registration = self._registration_of(login)
        if registration is None or self._binding is None:
            return None
        if self._binding.registration is None:
            self._binding = await device_bindings.keep_registration(
                self._database, self._session.device_id, registration
            )
        if self._binding is None or registration == self._binding.registration:
            return None
        if rules.binding == REGISTRATION:
            return "registration", "another terminal registers under its number"
        await self._note(login, "registration", refused=False)
        return None

    async def _note(self, login: Connected, reason: Reason, *, refused: bool) -> None:
        """Write down a login that differs, and tell of it by an event if it was refused."""
        session = self._session
        now, key = session.context.clock.now(), (login.protocol, reason)
        last = self._noted.get(key)
        if last is not None and now - last < device_bindings.MOST_OFTEN:
            return
        self._noted = {**self._noted, key: now}
        differing = DifferingLogin(
            login.protocol, reason, refused, login.peer, self._registration_of(login), now
        )
        try:
            is_told = await device_bindings.note_differing(self._database, session.device_id, differing)
        except StorageError as error:
            session.context.log.warning("a login that differed is not written down: %s", error)
            return
        if is_told:
            attributes = {"protocol": login.protocol, "reason": reason, "host": login.peer}
            self._positions.publish_event(EVENT, attributes)


def _contradicts(binding: Binding, known: Binding) -> bool:
    """Whether connections that were accepted by `known` may not be by `binding`."""
    return (
        binding.protocol != known.protocol
        or (known.code is not None and binding.code != known.code)
        or (known.registration is not None and binding.registration != known.registration)
    )
