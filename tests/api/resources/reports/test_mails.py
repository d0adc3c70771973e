"""Reports that are mailed: to a real SMTP server, once, with the rights of the moment."""

import io
from datetime import timedelta

import openpyxl
import pytest
from tests.api.resources.reports.reporting import MAY, XLSX, Road, get, happen, opened, span, table

from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.reports.columns import WORKBOOKS
from motorpool.actors.reports.mailer import REPORT_MAILER, MailedReport, ReportMailRequested
from motorpool.actors.reports.settings import ReportSettings
from motorpool.actors.reports.sources import ReportQuery
from motorpool.storage.records import Event
from motorpool.storage.reports import requested_reports

MINUTE = timedelta(minutes=1)


@pytest.fixture
async def letters(mail_server):
    return await mail_server()


@pytest.fixture
async def served(starting, letters):
    mail = MailSettings(host="127.0.0.1", port=letters.port, security="none", address="fleet@example.org")
    async with starting(mail=mail, reports=ReportSettings(mails_per_hour=3, mail_bytes=20_000)) as running:
        yield running


async def waiting(database):
    return await database.fetch_value("select count(*) from report_mails")


async def test_a_mailed_report_has_the_options_that_were_asked_for(served, letters):
    device_id = await served.device(served.admin, "1")
    sent = (
        served.position(device_id, MAY + minutes * MINUTE, attributes={"temp1": 5, "rpm": 700})
        for minutes in (0, 70)
    )
    await served.report(*sent)
    asked = span(attribute="temp1", interval=3600)
    assert (await served.admin.get(f"/reports/sensors/mail?{asked}")).status == 204
    _, mail = await letters.next()
    (file,) = mail.iter_attachments()
    assert file.get_filename() == "sensors_Vehicle-1_2026-05-01_2026-05-01.xlsx"
    _, _, rows = table(openpyxl.load_workbook(io.BytesIO(file.get_content())).active)
    assert [row[1:3] for row in rows] == [["Temperature 1", 5], ["Temperature 1", 5]]


@pytest.mark.parametrize("name", sorted(WORKBOOKS))
async def test_each_report_opens_as_json_as_a_workbook_and_as_a_mail(served, letters, name):
    device_id = await served.device(served.admin, "1", attributes={"fuelCapacity": 80})
    road = Road(served, device_id, MAY)
    road.stand(20, ignition=True, temp1=5, fuel=50.0)
    road.drive(20, ignition=True, temp1=5, fuel=45.0)
    road.stand(20, ignition=False, temp1=5, fuel=45.0)
    stored = await served.report(*road.positions)
    yard = (
        await served.admin.post("/geofences", json={"name": "Yard", "area": "CIRCLE (52 13, 100)"})
    ).json()
    first = stored[0]
    await happen(
        served.context.database,
        Event(0, "deviceOnline", MAY, device_id, first.id),
        Event(0, "geofenceEnter", MAY, device_id, first.id, geofence_id=yard["id"]),
        Event(0, "geofenceExit", MAY + 21 * MINUTE, device_id, first.id, geofence_id=yard["id"]),
    )
    options = {
        "sensors": {"attribute": "temp1"},
        "geofences": {"geofenceId": yard["id"]},
        "presence": {"latitude": first.latitude, "longitude": first.longitude},
    }
    asked = span(**options.get(name, {}))
    rows = [await get(served.admin, f"/reports/{each.name}?{asked}") for each in WORKBOOKS[name]]
    assert all(rows)
    book = await opened(served.admin, f"/reports/{name}/xlsx?{asked}")
    assert (await served.admin.get(f"/reports/{name}/mail?{asked}")).status == 204
    _, mail = await letters.next()
    (file,) = mail.iter_attachments()
    mailed = openpyxl.load_workbook(io.BytesIO(file.get_content()))
    for sheet in (book, mailed):
        assert [len(table(each)[2]) for each in sheet.worksheets] == [len(each) for each in rows]


async def test_a_report_arrives_as_an_attachment(served, letters, database):
    device_id = await served.device(served.admin, "1")
    await served.report(served.position(device_id, MAY))
    answer = await served.admin.get(f"/reports/route/mail?{span()}")
    assert (answer.status, answer.body) == (204, b"")
    envelope, mail = await letters.next()
    assert envelope.rcpt_tos == ["admin@example.org"]
    assert mail["Subject"] == "Report"
    (file,) = mail.iter_attachments()
    name = "route_Vehicle-1_2026-05-01_2026-05-01.xlsx"
    assert (file.get_filename(), file.get_content_type()) == (name, XLSX)
    book = openpyxl.load_workbook(io.BytesIO(file.get_content()))
    assert book.sheetnames == ["Vehicle 1"]
    assert book.active.max_row == 6
    assert await waiting(database) == 0
    # The same by content negotiation, and of the devices.
    asked = await served.admin.get(f"/reports/summary?{span(mail='true')}", headers={"Accept": XLSX})
    assert asked.status == 204
    _, mail = await letters.next()
    name = "summary_Vehicle-1_2026-05-01_2026-05-01.xlsx"
    assert [file.get_filename() for file in mail.iter_attachments()] == [name]
    assert (await served.admin.get("/reports/devices?mail=true", headers={"Accept": XLSX})).status == 204
    await letters.next()
    assert await database.fetch_value("select count(*) from delivery_attachments") <= 1
    assert (await served.admin.get(f"/reports/trips/mail?{span()}")).status == 429


async def test_what_cannot_be_attached_is_said_in_the_mail(served, letters):
    device_id = await served.device(served.admin, "1")
    await served.report(
        *(served.position(device_id, MAY + timedelta(minutes=i), latitude=50 + i / 7) for i in range(800))
    )
    assert (await served.admin.get(f"/reports/route/mail?{span()}")).status == 204
    _, mail = await letters.next()
    assert list(mail.iter_attachments()) == []
    assert "too large for a mail" in mail.get_content()


async def test_a_request_outlives_the_server_and_ends_with_the_right(served, letters, database):
    ann = await served.user("ann")
    query = ReportQuery(start=MAY, end=MAY)
    now = served.clock.now()

    async def request(name, user_id):
        assert await requested_reports.add(database, user_id, MailedReport(name, query), now=now)

    # Requests that a server left behind: one whose user may have no reports any more, one of another release.
    assert (await served.admin.put(f"/users/{ann.id}", json=await changed(served, ann))).status == 200
    await request("trips", ann.id)
    await request("horoscope", served.admin_id)
    await request("stops", served.admin_id)
    served.context.system.ref(REPORT_MAILER).offer(ReportMailRequested())
    envelope, _ = await letters.next()
    assert envelope.rcpt_tos == ["admin@example.org"]
    assert await waiting(database) == 0
    assert letters.left == 0


async def changed(served, ann):
    return {**(await served.admin.get(f"/users/{ann.id}")).json(), "disableReports": True}


async def test_two_servers_claim_a_report_once(database, served):
    now = served.clock.now()
    for _ in range(requested_reports.MAX_WAITING):
        assert await requested_reports.add(database, served.admin_id, {}, now=now)
    assert not await requested_reports.add(database, served.admin_id, {}, now=now)
    until = now + timedelta(minutes=1)
    first = await requested_reports.claim(database, now=now, until=until)
    second = await requested_reports.claim(database, now=now, until=until)
    assert first is not None
    assert second is not None
    assert first.id != second.id
    # The first server is gone, and comes back after another has taken over.
    await database.execute("delete from report_mails where id <> $1", first.id)
    assert await requested_reports.claim(database, now=now, until=until) is None
    later = until + timedelta(minutes=1)
    again = await requested_reports.claim(database, now=until, until=later)
    assert again is not None
    assert (again.id, again.attempts) == (first.id, 2)
    assert not await requested_reports.finish(database, first)
    assert await requested_reports.finish(database, again)


async def test_without_mail_it_is_refused(starting):
    async with starting() as served:
        assert not OutgoingServices().mail.enabled
        answer = await served.admin.get(f"/reports/trips/mail?{span()}")
        assert (answer.status, answer.text) == (400, "no mail can be sent to the user")
