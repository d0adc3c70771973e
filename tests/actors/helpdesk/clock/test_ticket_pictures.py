"""The last picture of a device becomes evidence of the ticket that a rule opened."""

import hashlib
import io
import os
from datetime import timedelta
from time import perf_counter

import pytest
from msgspec.structs import replace
from PIL import Image
from tests.actors.helpdesk.clock.test_rule_follower import alarms, rules_spec, set_rules, store

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.files.file_retention import DeviceQuota
from motorpool.actors.files.media_files import MediaFiles, media_name
from motorpool.actors.files.media_store import MediaStore
from motorpool.actors.files.settings import FileSettings
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.ticket_pictures import TicketPictures
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.messages.live_stream import STREAM, HoldStream
from motorpool.actors.messages.publishing import Publish, UnitsPublished
from motorpool.actors.messages.tickets import TICKET_PICTURES, AttachPicture
from motorpool.actors.messages.uplink import CommandSent, SendCommand
from motorpool.actors.upkeep.file_retention import FILE_RETENTION, FileRetention
from motorpool.actors.video.settings import VideoSettings
from motorpool.actors.video.snapshot import SNAPSHOT, Snapshot
from motorpool.actors.video.stream import stream_spec
from motorpool.codecs.reports import MediaFile
from motorpool.runtime import ChildSpec, DynamicSpec
from motorpool.storage.accounts import users
from motorpool.storage.devices import devices
from motorpool.storage.records import User

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def rule(database, world):
    """Opens tickets of alarms."""
    user = await users.TABLE.insert(
        database, User(name="chief", email="chief@example.org", administrator=True)
    )
    await set_rules(database, world, user)


@pytest.fixture
def specs(database, neighbours, tmp_path):
    """The actors that a picture needs."""
    mails = TicketMails(OutgoingServices().mail)
    files = MediaFiles(MediaStore(tmp_path), DeviceQuota(1000))
    return (
        neighbours.devices_spec,
        neighbours.decoders_spec,
        neighbours.sound_spec,
        stream_spec(database, VideoSettings()),
        DynamicSpec(kind=SNAPSHOT, name="snapshots", factory=lambda _: Snapshot()),
        neighbours.connections_spec,
        ChildSpec(
            kind=TICKET_PICTURES,
            factory=lambda: TicketPictures(database, files, BusinessCalendars(timedelta(days=1830)), mails),
        ),
        rules_spec(database),
    )


def photo(folder, at, content, extension="jpg"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / media_name(at, extension)
    path.write_bytes(content)
    return path


async def evidence(database):
    rows = await database.fetch("select attributes from ticket_events where type = 'evidence' order by id")
    return [row[0] for row in rows]


async def held(database):
    return [row[0] for row in await database.fetch("select name from ticket_files")]


async def test_the_newest_photo_of_the_last_minutes_is_added_once(
    database,
    tree,
    time,
    clock,
    rule,
    make_device,
    specs,
    tmp_path,
):
    device = await make_device("1")
    now, folder = clock.now(), tmp_path / "1"
    photo(folder, now - 9 * MINUTE, b"older")
    newest = photo(folder, now - 8 * MINUTE, b"newest")
    photo(folder, now - MINUTE, b"sound", "wav")
    (folder / "device.jpg").write_bytes(b"the image of the device")
    await store(database, *alarms(device, 100, 1))
    async with tree(*specs) as system:
        await time.passes(1)
        (ticket,) = await database.fetch("select id, version from tickets")
        await system.ref(TICKET_PICTURES).tell(AttachPicture(ticket["id"], device.id))
        await time.passes(1)
    (entry,) = await evidence(database)
    known = {name: entry[name] for name in ("deviceId", "fileName", "size", "sha256")}
    assert known == {
        "deviceId": device.id,
        "fileName": newest.name,
        "size": 6,
        "sha256": hashlib.sha256(b"newest").hexdigest(),
    }
    assert await held(database) == [newest.name]


async def test_an_older_photo_or_none_is_no_evidence_and_other_tickets_are_made(
    database,
    tree,
    time,
    clock,
    rule,
    make_device,
    specs,
    tmp_path,
):
    first, second = await make_device("1"), await make_device("2")
    photo(tmp_path / "1", clock.now() - 11 * MINUTE, b"old")
    await store(database, *alarms(first, 100, 1), *alarms(second, 200, 1))
    async with tree(*specs):
        await time.passes(1)
    assert await database.fetch_value("select count(*) from tickets") == 2
    assert await evidence(database) == []


async def test_of_a_running_stream_the_last_key_frame_is_stored(
    database,
    tree,
    time,
    clock,
    rule,
    make_device,
    specs,
    tmp_path,
    neighbours,
    film,
):
    device = await make_device("1")
    names = {"cameras": {"1": "front", "2": "cabin"}}
    await devices.TABLE.update(database, replace(device, attributes=names))
    neighbours.device(device.id, {SendCommand: CommandSent()})
    photo(tmp_path / "1", clock.now() - MINUTE, b"before")
    await store(database, *alarms(device, 100, 1))
    async with tree(rules_spec(database)):
        await time.passes(1)
    ticket_id = await database.fetch_value("select id from tickets")
    async with tree(*specs) as system:
        stream = system.ref(STREAM, (device.id, 2))
        await stream.tell(HoldStream())
        connection, _ = await neighbours.connect(system, 1)
        assert await stream.ask(Publish(connection))
        await stream.tell(UnitsPublished(connection, film(1, channel=2)))
        await time.settle()
        await system.ref(TICKET_PICTURES).tell(AttachPicture(ticket_id, device.id))
        # Time stands still while another process decodes.
        give_up = perf_counter() + 60
        while not await evidence(database) and perf_counter() < give_up:
            await time.settle()
    (entry,) = await evidence(database)
    content = (tmp_path / "1" / entry["fileName"]).read_bytes()
    assert (entry["size"], entry["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert (entry["channel"], entry["camera"]) == (2, "cabin")
    with Image.open(io.BytesIO(content)) as image:
        assert image.format == "JPEG"
    assert await held(database) == [entry["fileName"]]
    assert neighbours.devices[device.id].messages == []


async def test_evidence_stays_whatever_quotas_and_retention_remove(
    database,
    tree,
    time,
    clock,
    rule,
    make_device,
    tmp_path,
):
    quota = DeviceQuota(1000, exempt=None)
    files = MediaFiles(MediaStore(tmp_path), quota)
    names = [await files.save("1", MediaFile("image", "jpg", bytes(900)), clock.now()) for _ in range(3)]
    assert all((tmp_path / "1" / name).exists() for name in names), "not known yet what is evidence"
    for place, name in enumerate(names):
        then = clock.now().timestamp() - 3 * 86_400 + place
        os.utime(tmp_path / "1" / name, (then, then))
    await database.execute(
        "insert into ticket_files (company_id, ticket_id, name, size, sha256) values (1, 1, $1, 900, '')",
        names[0],
    )
    async with tree(
        ChildSpec(
            kind=FILE_RETENTION,
            factory=lambda: FileRetention(database, files, lambda: FileSettings(quota_bytes=1000)),
        )
    ):
        await time.passes(1)
        assert [(tmp_path / "1" / name).exists() for name in names] == [True, False, True]
        quota.hold(names[2])
        for _ in range(2):
            last = await files.save("1", MediaFile("image", "jpg", bytes(900)), clock.now())
        left = {path.name for path in (tmp_path / "1").iterdir()}
        assert left == {names[0], names[2], last}
