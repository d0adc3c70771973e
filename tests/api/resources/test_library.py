"""The library: captures and files of devices as one list, with pictures and films made of them."""

import hashlib
import io
import os
import signal
import zipfile
from datetime import datetime, timedelta
from functools import partial

import av
import msgspec
import pytest
import trio
from PIL import Image
from tests.api.cases import on_one_server

from motorpool.actors.files.media_files import media_name
from motorpool.actors.files.media_store import media_key, rendition_key
from motorpool.actors.video import worker_process
from motorpool.actors.video.capture_files import new_file_name
from motorpool.api.settings import QuotaSettings
from motorpool.storage.events import events
from motorpool.storage.records import Event

MINUTE = timedelta(minutes=1)


def filmed(pictures=20, size=(640, 360)):
    """A stream without a container."""
    content = io.BytesIO()
    with av.open(content, "w", format="h264") as output:
        stream = output.add_stream("libx264", rate=10, options={"preset": "ultrafast", "tune": "zerolatency"})
        (stream.width, stream.height), stream.pix_fmt = size, "yuv420p"
        for number in range(pictures):
            frame = av.VideoFrame(*size, "yuv420p")
            for plane in frame.planes:
                plane.update(bytes([number * 8 + 20]) * plane.buffer_size)
            frame.pts = number
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return content.getvalue()


@pytest.fixture(scope="session")
def raw_film():
    return filmed()


def photo(size=(800, 600)):
    content = io.BytesIO()
    Image.new("RGB", size, (200, 40, 40)).save(content, "JPEG")
    return content.getvalue()


class Van:
    """A device that sends files."""

    def __init__(self, served, database, device, unique_id):
        self.served, self.database, self.id, self.unique_id = served, database, device, unique_id

    @property
    def store(self):
        return self.served.context.files.store

    async def name_camera(self, camera, name):
        device = (await self.served.admin.get(f"/devices/{self.id}")).json()
        attributes = {**device["attributes"], "cameras": {str(camera): name}}
        saved = await self.served.admin.put(f"/devices/{self.id}", json={**device, "attributes": attributes})
        assert saved.status == 200, saved.text

    async def send(self, content, extension, media, ago=0, *, alarm=False, channel=None):
        """Store a file with its position and event, and perhaps the alarm that it is for; its name."""
        at = self.served.clock.now() - ago * MINUTE
        name = media_name(at, extension)
        self.store.save(media_key(self.unique_id, name), content)
        attributes = {media: name} if channel is None else {media: name, "channel": channel}
        (position,) = await self.served.report(self.served.position(self.id, at, attributes=attributes))
        found = [Event(type="media", attributes={"media": media, "file": name}, position_id=position.id)]
        if alarm:
            found.append(Event(type="alarm", attributes={"alarm": "sos"}))
        found = [msgspec.structs.replace(each, event_time=at, device_id=self.id) for each in found]
        await events.assign_ids(self.database, found)
        await events.insert_many(self.database, found)
        if alarm:
            self.alarm = found[1].id
        return name

    async def keep(self, content, ago=0, *, seconds=60):
        """A capture of live video, that began so many minutes ago; its file's name."""
        at = self.served.clock.now() - ago * MINUTE
        name = new_file_name(at)
        self.store.save(media_key(self.unique_id, name), content)
        await self.database.execute(
            "insert into captures (id, device_id, channel, live, file_name, started_at, completed_at, status,"
            " size, node) values ($1, $2, 2, true, $3, $4, $5, 'COMPLETE', $6, 0)",
            os.urandom(8).hex(),
            self.id,
            name,
            at,
            at + timedelta(seconds=seconds),
            len(content),
        )
        return name

    def path(self, name, rest=""):
        return f"/media/{self.unique_id}/{name}{rest}"


@pytest.fixture
async def van(served, database):
    return Van(served, database, await served.device(served.admin, "van1"), "van1")


def names(answer):
    assert answer.status == 200, answer.text
    return [item["fileName"] for item in answer.json()["items"]]


async def test_a_film_has_its_length_once_there_is_a_picture_of_it(served, van, raw_film):
    film = await van.send(raw_film, "h264", "video", ago=20)
    capture = await van.keep(raw_film, ago=10)
    (item,) = (await served.admin.get("/media?kind=film")).json()["items"]
    assert item["duration"] is None
    for name in (film, capture):
        assert (await served.admin.get(van.path(name, "/picture"))).status == 200
    items = (await served.admin.get("/media")).json()["items"]
    assert [(item["kind"], item["duration"]) for item in items] == [("capture", 2000), ("film", 2000)]


async def test_stills_of_users_are_in_the_library(served, van):
    ann, eve = await served.user("ann"), await served.user("eve", disableReports=True)
    for who in (ann, eve):
        await served.admin.post("/permissions", json={"userId": who.id, "deviceId": van.id})
    before = await van.send(photo(), "jpg", "image", ago=1)
    kind = {"Content-Type": "image/jpeg"}
    shown = "2026-04-30T10:00:00Z"
    path = f"/devices/{van.id}/stills?channel=2&time={shown}"
    still = (await ann.post(path, data=photo(), headers=kind)).json()["fileName"]
    other = (await ann.post(f"/devices/{van.id}/stills", data=photo(), headers=kind)).json()["fileName"]
    for wrong in ("channel=32", "time=yesterday"):
        assert (await ann.post(f"/devices/{van.id}/stills?{wrong}", data=photo(), headers=kind)).status == 400
    answer = await ann.get("/media")
    assert names(answer) == [other, still, before]
    assert [(item["kind"], item["channel"]) for item in answer.json()["items"]] == [
        ("still", None),
        ("still", 2),
        ("photo", None),
    ]
    item = answer.json()["items"][1]
    assert datetime.fromisoformat(item["startTime"]) == datetime.fromisoformat(shown)
    assert (await ann.get(van.path(still, "/picture"))).status == 200
    assert names(await ann.get("/media?kind=still&limit=1")) == [other]
    after = (await ann.get("/media?kind=still&limit=1")).json()["next"]
    assert names(await ann.get(f"/media?kind=still&limit=1&after={after}")) == [still]
    assert (await eve.get("/media")).status == 400
    assert names(await (await served.user("ben")).get("/media")) == []
    assert (await ann.put(van.path(still), json={"kept": True})).status == 200
    assert names(await ann.get("/media?kept=true")) == [still]
    assert (await ann.delete(van.path(other))).status == 204
    assert names(await ann.get("/media?kind=still")) == [still]


async def test_captures_and_files_are_one_list_the_newest_first(served, van, raw_film):
    older = await van.send(photo(), "jpg", "image", ago=30, channel=3)
    film = await van.send(raw_film, "h264", "video", ago=20, alarm=True, channel=65)
    capture = await van.keep(b"mp4", ago=10)
    sound = await van.send(b"RIFF", "wav", "audio", ago=5)
    answer = await served.admin.get("/media")
    assert names(answer) == [sound, capture, film, older]
    items = answer.json()["items"]
    assert [item["kind"] for item in items] == ["sound", "capture", "film", "photo"]
    assert [item["channel"] for item in items] == [None, 2, 65, 3]
    assert answer.json()["next"] is None
    base = "/api/media/van1/"
    assert [item["playUrl"] for item in items] == [None, base + capture, f"{base}{film}/film", None]
    assert [item["pictureUrl"] for item in items] == [
        None,
        f"{base}{capture}/picture",
        f"{base}{film}/picture",
        f"{base}{older}/picture",
    ]
    assert items[2]["alarm"]["id"] == van.alarm
    assert items[2]["size"] == len(raw_film)
    assert [item["alarm"] is None for item in items] == [True, True, False, True]
    assert items[1]["startTime"] < items[1]["endTime"]
    only = await served.admin.get("/media?kind=film&kind=photo")
    assert names(only) == [film, older]
    span = {
        "from": (served.clock.now() - 25 * MINUTE).isoformat(),
        "to": (served.clock.now() - 7 * MINUTE).isoformat(),
    }
    assert names(await served.admin.get("/media", query_string=span)) == [capture, film]


async def test_pages_show_each_entry_once_and_leave_out_files_that_are_gone(served, van):
    sent = [await van.send(photo((8, 8)), "jpg", "image", ago=number) for number in range(7)]
    sent += [await van.keep(b"mp4", ago=10) for _ in range(3)]  # at the same instant
    await trio.to_thread.run_sync(van.store.delete, media_key("van1", sent[1]))
    expected = {name for name in sent if name != sent[1]}
    seen, after, pages = [], None, 0
    while after is not None or not pages:
        query = {"limit": 2} if after is None else {"limit": 2, "after": after}
        answer = await served.admin.get("/media", query_string=query)
        seen += names(answer)
        after = answer.json()["next"]
        pages += 1
    assert (len(seen), set(seen)) == (len(expected), expected)
    assert seen[:6] == [name for name in sent[:7] if name != sent[1]]
    assert pages >= 5


@on_one_server(
    "query",
    [
        "after=1",
        "after=9999999999999999999.1.1",
        "after=-99999999999999999.0.1",
        "kind=song",
        "limit=201",
        "limit=-1",
        "from=x",
    ],
)
async def test_wrong_parameters_are_refused(served, query):
    assert (await served.admin.get(f"/media?{query}")).status == 400


async def test_only_what_the_caller_may_see_is_listed_kept_and_deleted(served, van):
    name = await van.send(photo(), "jpg", "image")
    capture = await van.keep(b"mp4")
    ann = await served.user("ann")
    assert names(await ann.get("/media")) == []
    assert names(await ann.get(f"/media?deviceId={van.id}")) == []
    for rest in ("", "/picture", "/film"):
        assert (await ann.get(van.path(name, rest))).status == 404
    assert (await ann.put(van.path(name), json={"kept": True})).status == 404
    assert (await ann.delete(van.path(name))).status == 404
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": van.id})
    assert set(names(await ann.get("/media"))) == {name, capture}
    for field, status in (("readonly", 400), ("deviceReadonly", 200)):
        bob = await served.user(f"bob {field}", **{field: True})
        await served.admin.post("/permissions", json={"userId": bob.id, "deviceId": van.id})
        assert (await bob.put(van.path(name), json={"kept": True})).status == status
        assert (await bob.put(van.path(name), json={"kept": False})).status == status
        assert (await bob.delete(van.path(name))).status == 400
    eve = await served.user("eve", disableReports=True)
    await served.admin.post("/permissions", json={"userId": eve.id, "deviceId": van.id})
    assert (await eve.get("/media")).status == 400
    assert (await eve.get(van.path(name, "/picture"))).status == 200  # as the photo itself
    for rest in ("", "/picture", "/film"):
        assert (await eve.get(van.path(capture, rest))).status == 400
    assert (await eve.put(van.path(name), json={"kept": True})).status == 400
    assert (await eve.delete(van.path(name))).status == 400
    assert (await served.client().get("/media")).status == 401
    assert (await served.client().get(van.path(name, "/picture"))).status == 401


async def test_a_film_without_a_container_is_played_as_mp4_and_stays_as_it_is(served, van, raw_film):
    name = await van.send(raw_film, "h264", "video")
    made = await served.admin.get(van.path(name, "/film"))
    assert (made.status, made.headers["Content-Type"]) == (200, "video/mp4")
    with av.open(io.BytesIO(made.body)) as film:
        assert sum(1 for _ in film.decode(video=0)) == 20
        assert film.duration == pytest.approx(2_000_000, abs=10_000)
    part = await served.admin.get(van.path(name, "/film"), headers={"Range": "bytes=10-19"})
    assert (part.status, part.body) == (206, made.body[10:20])
    again = await served.admin.get(van.path(name, "/film"), headers={"If-None-Match": made.headers["ETag"]})
    assert again.status == 304
    assert (await served.admin.get(van.path(name))).body == raw_film
    picture = await served.admin.get(van.path(name, "/picture"))
    with Image.open(io.BytesIO(picture.body)) as image:
        assert image.size == (480, 270)
    # What was made has no address of its own.
    hidden = rendition_key(media_key("van1", name), "film").name
    assert (await served.admin.get(van.path(hidden))).status == 404


async def test_a_film_that_browsers_play_is_sent_as_it_is(served, van, raw_film):
    name = await van.send(raw_film, "h264", "video")
    mp4 = (await served.admin.get(van.path(name, "/film"))).body
    whole = await van.send(mp4, "mp4", "video")
    assert (await served.admin.get(van.path(whole, "/film"))).body == mp4
    assert not van.store.exists(rendition_key(media_key("van1", whole), "film"))


async def test_requests_at_the_same_time_make_one_file(served, van, raw_film, caplog):
    name = await van.send(raw_film, "h264", "video")
    ann = await served.user("ann")
    await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": van.id})
    answers = []

    async def ask(caller):
        answers.append(await caller.get(van.path(name, "/film")))

    async with trio.open_nursery() as nursery:
        for caller in (served.admin, ann) * 4:
            nursery.start_soon(ask, caller)
    assert {answer.status for answer in answers} == {200}
    assert len({answer.headers["ETag"] for answer in answers}) == 1
    assert len(list(van.store.list(".*", "van1"))) == 1  # no drafts are left


@pytest.mark.parametrize(
    ("content", "extension"),
    [
        (b"", "h264"),
        (b"\0\0\0\1\x67" + bytes(500), "h264"),
        (b"text", "jpg"),
        (b"ffconcat version 1.0", "mp4"),
        (b"\x30\x26\xb2\x75" + bytes(1000), "wmv"),
    ],
)
async def test_what_cannot_be_shown_is_a_clear_404_and_is_not_tried_again(
    served, van, content, extension, monkeypatch
):
    name = await van.send(content, extension, "video")
    for rest in ("/film", "/picture"):
        answer = await served.admin.get(van.path(name, rest))
        assert answer.status == 404
        assert (
            "cannot be played" in answer.text or "known format" in answer.text or "no picture" in answer.text
        )
        assert str(van.store.folder) not in answer.text
    monkeypatch.setattr("motorpool.api.resources.media.make_rendition", None)
    for rest, words in (("/film", "browsers cannot play it"), ("/picture", "no picture can be made of it")):
        answer = await served.admin.get(van.path(name, rest))
        assert (answer.status, words in answer.text) == (404, True)
    monkeypatch.undo()
    for missing in ("20260501120000-none.h264", f"20260501120000-{'x' * 240}.h264"):
        for rest in ("/film", "/picture"):
            assert (await served.admin.get(van.path(missing, rest))).status == 404


@pytest.mark.parametrize("ending", ["not started", "too slow", signal.SIGKILL, signal.SIGSEGV])
async def test_what_failed_for_want_of_memory_or_time_is_tried_again(served, van, monkeypatch, ending):
    name = await van.send(photo(), "jpg", "image")

    async def start(_):
        raise worker_process.WorkerFailedError("cannot be started")

    async def exchange(process, _):
        if ending == "too slow":
            raise trio.TooSlowError
        process.send_signal(ending)
        await process.wait()
        raise worker_process.WorkerFailedError("closed its output")

    with monkeypatch.context() as patched:
        if ending == "not started":
            patched.setattr(worker_process, "_start", start)
        else:
            patched.setattr(worker_process, "_exchange", exchange)
        failed = await served.admin.get(van.path(name, "/picture"))
    again = await served.admin.get(van.path(name, "/picture"))
    # Who ends its process by a fault does so each time.
    assert (failed.status, again.status) == ((404, 404) if ending == signal.SIGSEGV else (503, 200))


async def test_a_deleted_file_goes_with_what_was_made_of_it(served, van, raw_film, database):
    name = await van.send(raw_film, "h264", "video")
    capture = await van.keep(raw_film)
    for rest in ("/film", "/picture"):
        assert (await served.admin.get(van.path(name, rest))).status == 200
    for each in (name, capture):
        assert (await served.admin.delete(van.path(each))).status == 204
        assert (await served.admin.delete(van.path(each))).status == 404
    assert list(van.store.list("*", "van1")) == []
    assert list(van.store.list(".*", "van1")) == []
    assert names(await served.admin.get("/media")) == []
    shown = (await served.admin.get("/captures")).json()
    assert [(each["url"], each["reason"]) for each in shown] == [(None, "deleted by a user")]
    actions = (
        "select action_type, attributes ->> 'fileName' from audit"
        " where action_type = 'deleteFile' order by id"
    )
    assert [tuple(row.values()) for row in await database.fetch(actions)] == [
        ("deleteFile", name),
        ("deleteFile", capture),
    ]


async def test_what_is_kept_or_in_a_ticket_is_not_deleted(served, van):
    name = await van.send(photo(), "jpg", "image")
    capture = await van.keep(b"mp4")
    for each in (name, capture):
        kept = await served.admin.put(van.path(each), json={"kept": True})
        assert (kept.status, kept.json()["kept"]) == (200, True)
        assert (await served.admin.put(van.path(each), json={"kept": True})).json()["kept"] is True
        assert (await served.admin.delete(van.path(each))).status == 400
    other = await van.send(photo(), "jpg", "image")
    assert set(names(await served.admin.get("/media?kept=true"))) == {name, capture}
    assert names(await served.admin.get("/media?kept=true&kind=photo")) == [name]
    released = await served.admin.put(van.path(name), json={"kept": False})
    assert released.json()["kept"] is False
    assert (await served.admin.delete(van.path(name))).status == 204
    company = (await served.admin.post("/companies", json={"name": "North"})).json()["id"]
    assert (await served.admin.post(f"/tickets/defaults?companyId={company}")).status == 200
    ticket = (await served.admin.post("/tickets", json={"companyId": company, "subject": "A"})).json()["id"]
    evidence = {"text": "So", "files": [{"deviceId": van.id, "fileName": other}]}
    assert (await served.admin.post(f"/tickets/{ticket}/comments", json=evidence)).status == 200
    items = (await served.admin.get("/media?kind=photo")).json()["items"]
    assert [item["inTicket"] for item in items] == [True]
    refused = await served.admin.delete(van.path(other))
    assert (refused.status, "ticket" in refused.text) == (400, True)


async def test_a_file_that_is_kept_and_deleted_at_the_same_time_is_one_of_both(served, van, database):
    name = await van.send(photo(), "jpg", "image")
    answers = []

    async def ask(method, **options):
        answers.append(await served.admin.call(method, "/api" + van.path(name), **options))

    async with trio.open_nursery() as nursery, database.transaction() as transaction:

        async def waiting():
            return await transaction.fetch_value("select count(*) from pg_locks where not granted")

        await transaction.execute("lock table kept_files in row exclusive mode")
        nursery.start_soon(partial(ask, "PUT", json={"kept": True}))
        while await waiting() < 1:  # noqa: ASYNC110 - the database sets no event
            await trio.sleep(0.01)
        nursery.start_soon(ask, "DELETE")
        while await waiting() < 2 and not answers:  # noqa: ASYNC110 - as above
            await trio.sleep(0.01)
    kept = [row[0] for row in await database.fetch("select name from kept_files")]
    there = van.store.exists(media_key("van1", name))
    assert (kept, there) in (([name], True), ([], False)), [each.status for each in answers]
    assert {each.status for each in answers} in ({204, 404}, {200, 400})


async def test_what_users_keep_is_limited(starting, database):
    content = photo()
    most = len(content) * 3 // 2
    async with starting(
        quotas=QuotaSettings(user_kept_bytes=most, server_kept_bytes=3 * len(content))
    ) as served:
        van = Van(served, database, await served.device(served.admin, "van1"), "van1")
        sent = [await van.send(content, "jpg", "image", ago=number) for number in range(4)]
        ann = await served.user("ann")
        await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": van.id})
        answers = []

        async def keep(name):
            answers.append(await ann.put(van.path(name), json={"kept": True}))

        async with trio.open_nursery() as nursery:
            for name in sent[:3]:
                nursery.start_soon(keep, name)
        assert sorted(answer.status for answer in answers) == [200, 400, 400]
        assert "quotas.user_kept_bytes" in next(each.text for each in answers if each.status == 400)
        (kept,) = names(await ann.get("/media?kept=true"))
        rest = [name for name in sent if name != kept]
        assert [
            (await served.admin.put(van.path(name), json={"kept": True})).status for name in rest[:3]
        ] == [
            200,
            200,
            400,
        ]
        assert (await ann.put(van.path(kept), json={"kept": False})).status == 200
        assert len(names(await ann.get("/media?kept=true"))) == 2


async def test_the_evidence_of_an_event_is_what_was_sent_around_it_and_captures_that_hold_it(
    served, van, raw_film
):
    far = await van.send(photo(), "jpg", "image", ago=40)
    film = await van.send(raw_film, "h264", "video", ago=20, alarm=True, channel=1)
    near = await van.send(photo(), "jpg", "image", ago=18)
    holding = await van.keep(b"mp4", ago=22, seconds=300)
    await van.keep(b"mp4", ago=19, seconds=300)
    answer = await served.admin.get(f"/events/{van.alarm}/evidence")
    assert answer.status == 200, answer.text
    assert [item["fileName"] for item in answer.json()] == [near, film, holding]
    assert far not in answer.text
    assert {item["cameraTime"] for item in answer.json()} == {None}
    eve = await served.user("eve", disableReports=True)
    ann = await served.user("ann")
    for rest in ("evidence", "evidence.zip"):
        assert (await eve.get(f"/events/{van.alarm}/{rest}")).status == 400
        assert (await ann.get(f"/events/{van.alarm}/{rest}")).status == 404


async def test_all_evidence_is_one_archive_with_checksums(served, van, raw_film, database, tmp_path):
    await van.name_camera(2, "front")
    film = await van.send(raw_film, "h264", "video", ago=20, alarm=True, channel=1)
    picture = photo()
    for ago in (20.001, 20.002):  # in the same second
        await van.send(picture, "jpg", "image", ago=ago, channel=2)
    broken = await van.send(b"\0\0\0\1\x67\1\2", "h264", "video", ago=21)
    answer = await served.admin.get(f"/events/{van.alarm}/evidence.zip")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/zip")
    assert 'filename="evidence_Vehicle-van1_2026-05-01_' in answer.headers["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert archive.testzip() is None
        members = archive.namelist()
        archive.extractall(tmp_path)
    photos = [name for name in members if name.endswith(".jpg")]
    films = [name for name in members if name.endswith((".h264", ".mp4"))]
    assert len(photos) == 2
    assert all(name.startswith("Vehicle-van1_2026-05-01_") and "camera-2-front" in name for name in photos)
    assert len(films) == 3
    assert members[-3:] == ["positions.csv", "evidence.json", "SHA256SUMS"]
    command = ["sha256sum", "--strict", "-c", "SHA256SUMS"]
    done = await trio.run_process(command, cwd=tmp_path, capture_stdout=True)
    assert len(done.stdout.splitlines()) == len(members) - 1
    summary = msgspec.json.decode((tmp_path / "evidence.json").read_bytes())
    assert summary["event"]["id"] == van.alarm
    by_file = {entry["fileName"]: entry for entry in summary["files"]}
    assert {(entry["channel"], entry["camera"]) for entry in summary["files"]} == {
        (1, None),
        (2, "front"),
        (None, None),
    }
    assert by_file[film]["sha256"] == hashlib.sha256(raw_film).hexdigest()
    with av.open(str(tmp_path / by_file[film]["film"])) as made:
        assert sum(1 for _ in made.decode(video=0)) == 20
    assert by_file[broken]["film"].startswith("not made: ")
    rows = (tmp_path / "positions.csv").read_text().splitlines()
    assert len(rows) == 5
    downloads = "select object_type, object_id from audit where action_type = 'download'"
    assert [tuple(row.values()) for row in await database.fetch(downloads)] == [("event", van.alarm)]
