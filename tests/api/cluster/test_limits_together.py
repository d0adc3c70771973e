"""Limits that hold for all servers of a cluster together (docs/servers.md#limits-on-guesses)."""

from tests.api.cluster.conftest import member

from motorpool.actors.deliveries.notificators.mail import MailSettings
from motorpool.actors.deliveries.notificators.sms import SmsSettings
from motorpool.actors.reports.settings import ReportSettings
from motorpool.api.login_settings import UserSettings
from motorpool.api.request_limits import WEBHOOK_TESTS
from motorpool.api.settings import ClusterSettings, WebhookSettings


async def test_what_was_done_at_one_server_counts_at_the_other(database, tmp_path, mail_server, web_server):
    letters, company_server = await mail_server(), web_server()
    settings = {
        "cluster": ClusterSettings(name="north"),
        "mail": MailSettings(
            host="127.0.0.1", port=letters.port, security="none", address="fleet@example.org"
        ),
        "users": UserSettings(tests_per_hour=2),
        "reports": ReportSettings(mails_per_hour=2),
        "webhook": WebhookSettings(allow=("127.0.0.0/8",)),
    }
    async with (
        member(database, tmp_path / "1", **settings) as one,
        member(database, tmp_path / "2", is_first=False, **settings) as other,
    ):
        attributes = {"ticketWebhook": {"url": company_server.url}}
        company = await one.admin.post("/companies", json={"name": "North", "attributes": attributes})
        paths = {
            ("POST", "/api/notifications/test/web"): (2, 3600),
            ("GET", "/api/reports/devices/mail"): (2, 3600),
            ("POST", f"/api/companies/{company.json()['id']}/webhook/test"): (WEBHOOK_TESTS, 60),
        }
        for path, (allowed, seconds) in paths.items():
            for number in range(allowed):
                answer = await (one, other)[number % 2].admin.call(*path)
                assert answer.status in {200, 204}, answer.text
            for server in (one, other):
                answer = await server.admin.call(*path)
                assert answer.status == 429, path
                assert 0 < int(answer.headers["Retry-After"]) <= seconds


async def test_text_messages_that_a_user_causes_at_one_server_count_at_the_other(
    database, tmp_path, web_server
):
    gateway = web_server()
    settings = {
        "cluster": ClusterSettings(name="north"),
        "sms": SmsSettings(url=gateway.url, per_user=3),
    }
    async with (
        member(database, tmp_path / "1", **settings) as one,
        member(database, tmp_path / "2", is_first=False, **settings) as other,
    ):
        await one.user("boss", userLimit=-1, phone="111")
        bosses = [await server.log_in("boss@example.org", "boss") for server in (one, other)]
        ann = {"name": "ann", "email": "ann@example.org", "password": "ann", "phone": "222"}
        assert (await bosses[0].post("/users", json=ann)).status == 200
        for boss in (*bosses, bosses[0]):
            assert (await boss.post("/notifications/test/sms")).status == 204
        for boss in bosses:
            for path in ("/notifications/test/sms", "/notifications/send/sms"):
                answer = await boss.post(path, json={"body": "Hello"})
                assert (answer.status, "a user may send 3 text messages an hour" in answer.text) == (
                    429,
                    True,
                )
                assert 0 < int(answer.headers["Retry-After"]) <= 3600
    assert len(gateway.asked) == 3
