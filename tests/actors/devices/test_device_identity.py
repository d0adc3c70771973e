"""Which connections a device accepts: what it is bound to, and what it has to present."""

import msgspec
import pytest
from tests.actors.conftest import NOW

from motorpool.actors.cluster.cluster_statuses import ClusterStatuses
from motorpool.actors.devices.device_identity import CODE_BYTES
from motorpool.actors.messages.changes import DeviceChanged
from motorpool.actors.messages.downlink import Close, ConfigureDecoder, StopServing, Transmit
from motorpool.actors.messages.uplink import (
    CodeIssued,
    Connected,
    Disconnected,
    LoginRefused,
    PositionReported,
    SendCommand,
)
from motorpool.codecs.reports import PositionReport, Secret
from motorpool.storage.cluster import homes
from motorpool.storage.database import nodes
from motorpool.storage.devices import device_bindings, devices
from motorpool.storage.encryption import Key, Keyring

REGISTRATION = {"manufacturer": "MTRPL", "model": "SIM-1", "terminalId": "0000001", "plate": "B-1"}


class Logins:
    """Logins of connections that record."""

    def __init__(self, running, row):
        self.running, self.row = running, row
        self.probes = {}
        self.refs = {}

    async def __call__(self, number, protocol="jt808", peer="192.0.2.7", **fields):
        """Log in by this connection; what the device says to it."""
        if number not in self.refs:
            ref, probe = await self.running.neighbours.connect(self.running.system, number)
            self.refs[number], self.probes[number] = ref, probe
        login = Connected(
            self.refs[number],
            protocol,
            peer,
            "198.51.100.1",
            (f"0{self.row.unique_id}", self.row.unique_id),
            **fields,
        )
        return await self.running.device(self.row).ask(login)

    def told(self, number):
        """The kinds of messages that the connection got."""
        return [type(message) for message in self.probes[number].messages]

    async def takes_commands(self, number):
        before = len(self.told(number))
        await self.running.device(self.row).ask(SendCommand("custom", {"data": "8104"}, no_queue=True))
        return Transmit in self.told(number)[before:]

    @property
    def refusals(self):
        return [
            tuple(event.attributes.values())
            for event in self.running.events
            if event.type == "deviceLoginRefused"
        ]


@pytest.fixture
def logins(device_harness, make_device):
    """`async with logins(attributes) as log_in:` a device with these attributes."""

    class Opened:
        def __init__(self, attributes=None, **settings):
            self.attributes = attributes or {}
            self.opened = device_harness(**settings)

        async def __aenter__(self):
            row = await make_device(attributes=self.attributes)
            return Logins(await self.opened.__aenter__(), row)

        async def __aexit__(self, *error):
            return await self.opened.__aexit__(*error)

    return Opened


async def edit(log_in, database, time, **fields):
    """Edit the row of the device, as the API does."""
    row = await devices.TABLE.fetch(database, log_in.row.id)
    await devices.TABLE.update(database, msgspec.structs.replace(row, **fields))
    await log_in.running.device(row).tell(DeviceChanged(row.id, "updated", tuple(fields)))
    await time.settle()


async def binding(log_in, database):
    return (await device_bindings.of_devices(database, (log_in.row.id,))).get(log_in.row.id)


class TestProtocol:
    async def test_the_first_login_binds_and_another_protocol_is_refused_and_told_once(
        self, logins, database, time
    ):
        async with logins() as log_in:
            assert await log_in(1) is None
            assert (await binding(log_in, database)).protocol == "jt808"
            for number in range(2, 5):
                assert await log_in(number, "osmand", "203.0.113.9") == LoginRefused("its protocol is jt808")
                assert await log_in(number, "gt06", "203.0.113.9") == LoginRefused("its protocol is jt808")
            assert await log_in.takes_commands(1)
            assert log_in.told(1) == [Transmit]
            assert log_in.told(2) == []
            assert log_in.refusals == [
                ("osmand", "protocol", "203.0.113.9"),
                ("gt06", "protocol", "203.0.113.9"),
            ]
            assert await log_in(9) is None
            assert log_in.told(1) == [Transmit, Close]

    async def test_of_first_logins_at_two_servers_one_is_accepted(self, logins, database, time):
        async with logins() as log_in:
            # The other server has bound it after this one has read that it is not.
            await log_in.running.device(log_in.row).ask(SendCommand("custom", no_queue=True))
            await device_bindings.bind(database, log_in.row.id, "gt06", NOW)
            assert await log_in(1) == LoginRefused("its protocol is gt06")
            assert await log_in(2, "gt06") is None

    async def test_a_device_that_may_use_several_protocols_uses_no_other(self, logins):
        async with logins({"device.protocols": "jt808, osmand"}) as log_in:
            assert await log_in(1) is None
            assert await log_in(2, "osmand") is None
            assert await log_in(3, "gt06") == LoginRefused("its protocols are jt808, osmand")

    async def test_without_binding_every_protocol_is_accepted_and_none_is_bound(self, logins, database):
        async with logins({"device.binding": "none"}) as log_in:
            assert [await log_in(number, name) for number, name in enumerate(("jt808", "gt06"), 1)] == [
                None
            ] * 2
            assert await binding(log_in, database) is None

    async def test_a_device_that_is_bound_anew_is_closed_and_let_in_by_the_other(
        self, logins, database, time
    ):
        async with logins() as log_in:
            await log_in(1)
            assert await log_in(2, "osmand") is not None
            await device_bindings.replace(database, log_in.row.id, "osmand", NOW)
            await log_in.running.device(log_in.row).tell(
                DeviceChanged(log_in.row.id, "updated", ("binding",))
            )
            await time.settle()
            assert log_in.probes[1].messages == [Close("who may report as the device has changed")]
            assert await log_in(2, "osmand") is None
            assert await log_in(3) == LoginRefused("its protocol is osmand")

    async def test_a_connection_that_may_not_serve_it_any_more_is_closed_when_it_announces_itself(
        self, logins
    ):
        async with logins() as log_in:
            await log_in(1)
            assert await log_in(2, "gt06", is_repeated=True) is not None
            assert log_in.told(2) == [StopServing]

    async def test_in_an_outage_those_that_are_known_are_let_in(self, logins, outage):
        async with logins() as log_in:
            await log_in(1)
            with outage():
                assert await log_in(2) is None
                assert await log_in(3, "gt06") == LoginRefused("its protocol is jt808")


class TestNetworks:
    async def test_a_device_reports_from_its_networks_only(self, logins, database, time):
        async with logins({"device.networks": "192.0.2.0/24"}) as log_in:
            assert await log_in(1, peer="203.0.113.1") == LoginRefused("not from one of its networks")
            assert await log_in(2) is None
            assert log_in.refusals == [("jt808", "network", "203.0.113.1")]
            await edit(log_in, database, time, attributes={"device.networks": "203.0.113.0/24"})
            assert log_in.told(2) == [Close]
            assert await log_in(1, peer="203.0.113.1") is None


class TestRegistration:
    @pytest.mark.parametrize("is_strict", [True, False])
    async def test_another_terminal_is_refused_or_only_shown(self, logins, database, is_strict):
        attributes = {"device.binding": "registration"} if is_strict else {}
        other = {**REGISTRATION, "terminalId": "0000002"}
        async with logins(attributes) as log_in:
            assert await log_in(1, wants_code=True, registration=REGISTRATION) is None
            assert await log_in(2, wants_code=True, registration={**REGISTRATION, "plate": "B-2"}) is None
            answer = await log_in(3, wants_code=True, registration=other)
            assert (answer is not None) is is_strict
            assert log_in.refusals == [("jt808", "registration", "192.0.2.7")] * is_strict
            (shown,) = await device_bindings.differing(database, log_in.row.id)
            assert (shown.reason, shown.refused) == ("registration", is_strict)
            assert shown.registration == {"manufacturer": "MTRPL", "model": "SIM-1", "terminalId": "0000002"}
            assert (await binding(log_in, database)).registration["terminalId"] == "0000001"
            # One that says nothing of itself is no other.
            assert await log_in(4, wants_code=True) is None
            assert await log_in(5) is None


SECRET = {"device.secret": "correct horse"}


class TestSecrets:
    async def test_requests_have_to_present_the_secret(self, logins):
        async with logins(SECRET) as log_in:
            wrong = LoginRefused("its secret is missing or wrong")
            assert await log_in(1, "osmand") == wrong
            assert await log_in(1, "osmand", secret=Secret("correct hors")) == wrong
            assert await log_in(1, "osmand", secret=Secret("correct horse")) is None
            assert await log_in(2, "gt06") == LoginRefused("its protocol is osmand")
            assert log_in.refusals == [("osmand", "secret", "192.0.2.7"), ("gt06", "protocol", "192.0.2.7")]

    async def test_it_is_decrypted_when_the_device_is_loaded_and_not_for_each_position(
        self, logins, database, monkeypatch
    ):
        database.keyring = keyring = Keyring([Key(b"k" * 32)])
        async with logins(SECRET) as log_in:
            stored = await database.fetch_value("select attributes ->> 'device.secret' from devices")
            assert stored.startswith(keyring.pattern)
            assert await log_in(1, "osmand", secret=Secret("correct horse")) is None
            decrypted = []
            decrypt = Keyring.decrypt
            monkeypatch.setattr(Keyring, "decrypt", lambda *args: decrypted.append(args) or decrypt(*args))
            for number in range(5):
                report = PositionReport({}, device_time=NOW, valid=True, latitude=1.0 + number, longitude=2.0)
                await log_in.running.device(log_in.row).ask(
                    PositionReported(report, "osmand", log_in.refs[1])
                )
                assert await log_in(1, "osmand", secret=Secret("correct horse")) is None
            assert len(log_in.running.positions) == 5
            assert decrypted == []

    async def test_a_protocol_without_a_place_for_it_is_refused(self, logins, database):
        async with logins(SECRET) as log_in:
            assert await log_in(1, "gt06") == LoginRefused("gt06 cannot present its secret")
            assert await binding(log_in, database) is None

    async def test_a_terminal_gets_a_code_once_and_is_let_in_by_it_alone(self, logins, database):
        async with logins(SECRET) as log_in:
            issued = await log_in(1, wants_code=True, registration=REGISTRATION)
            assert isinstance(issued, CodeIssued)
            assert len(issued.code.text) == 2 * CODE_BYTES
            assert issued.code.text not in repr(issued)
            assert (await binding(log_in, database)).code not in (None, issued.code.text.encode())
            assert not await log_in.takes_commands(1)
            for secret in (None, Secret(""), Secret(log_in.row.unique_id), Secret("f" * 16)):
                assert isinstance(await log_in(2, secret=secret), LoginRefused)
            assert await log_in(3, secret=issued.code) is None
            assert await log_in.takes_commands(3)
            # Who knows its number gets no other code, and replaces nobody.
            again = await log_in(4, wants_code=True, registration=REGISTRATION)
            assert again == LoginRefused("it registers again, though it has a code")
            assert await log_in.takes_commands(3)
            assert Close not in log_in.told(3)

    async def test_a_terminal_keeps_the_code_that_it_has_unless_that_is_its_number(self, logins):
        async with logins(SECRET) as log_in:
            for guessed in (f"0{log_in.row.unique_id}", log_in.row.unique_id, ""):
                assert isinstance(await log_in(1, secret=Secret(guessed)), LoginRefused)
            assert await log_in(2, secret=Secret("issued elsewhere")) is None
            assert await log_in(3, secret=Secret("another one")) == LoginRefused("its code is wrong")
            assert await log_in(4, secret=Secret("issued elsewhere")) is None

    async def test_who_edits_the_secret_lets_the_terminal_register_anew(self, logins, database, time):
        async with logins(SECRET) as log_in:
            first = await log_in(1, wants_code=True)
            assert await log_in(2, secret=first.code) is None
            await device_bindings.forget_code(database, log_in.row.id)
            await edit(log_in, database, time, attributes={"device.secret": "another horse"})
            assert set(log_in.told(2)) == {Close}
            second = await log_in(3, wants_code=True)
            assert isinstance(second, CodeIssued)
            assert await log_in(4, secret=first.code) == LoginRefused("its code is wrong")
            assert await log_in(4, secret=second.code) is None


class TestDatagrams:
    async def test_beside_a_tcp_connection_they_replace_nothing_and_get_no_commands(self, logins):
        async with logins({"decoder.timezone": "Europe/Berlin"}) as log_in:
            await log_in(1)
            assert await log_in(2, is_datagram=True) is None
            assert await log_in.takes_commands(1)
            assert log_in.told(1) == [ConfigureDecoder, Transmit]
            # What they say is understood in the same way.
            assert log_in.told(2) == [ConfigureDecoder]
            await log_in(3, is_datagram=True)
            assert log_in.told(2) == [ConfigureDecoder, Close]

    async def test_without_one_commands_go_where_the_last_came_from(self, logins):
        async with logins() as log_in:
            await log_in(1, is_datagram=True)
            assert await log_in.takes_commands(1)
            await log_in(2, is_datagram=True)
            assert await log_in.takes_commands(2)
            assert log_in.told(1) == [Transmit, Close]
            await log_in(3)
            assert await log_in.takes_commands(3)
            assert log_in.told(2) == [Transmit, Close]

    async def test_they_take_over_when_the_tcp_connection_has_ended(self, logins, time):
        async with logins() as log_in:
            await log_in(1)
            await log_in(2, is_datagram=True)
            device = log_in.running.device(log_in.row)
            await device.tell(Disconnected(log_in.refs[1]))
            report = PositionReport(device_time=NOW, valid=True, latitude=1.0, longitude=2.0, attributes={})
            await device.tell(PositionReported(report, "jt808", log_in.refs[2]))
            await time.settle()
            assert await log_in(2, is_datagram=True, is_repeated=True) is None
            assert await log_in.takes_commands(2)

    async def test_of_a_device_that_is_connected_to_another_server_they_get_no_commands(
        self, logins, database, time
    ):
        async with database.session() as session:
            here, there = [await nodes.join(session, "north", name, "0") for name in ("here", "there")]
        await database.execute("update nodes set seen_until = now() + interval '1 day'")
        async with logins(cluster_statuses=ClusterStatuses(), node=here) as log_in:
            await homes.claim(database, there, [log_in.row.id])
            assert await log_in(1, is_datagram=True) is None
            assert not await log_in.takes_commands(1)
            await homes.release(database, there, [log_in.row.id])
            # It is looked up again after a while, not with each report.
            await log_in(1, is_datagram=True, is_repeated=True)
            assert not await log_in.takes_commands(1)
            await time.passes(61)
            await log_in(1, is_datagram=True, is_repeated=True)
            assert await log_in.takes_commands(1)
            await homes.claim(database, there, [log_in.row.id], [log_in.row.id])
            await log_in(2, is_datagram=True)
            assert await log_in.takes_commands(2)
