"""From settings to the ways out."""

from datetime import UTC, datetime
from ipaddress import ip_address

import pytest

from motorpool.actors.deliveries.notificator import Envelope
from motorpool.actors.geocoding.geocoders import PROVIDERS
from motorpool.api.configuration.errors import SettingsError
from motorpool.api.configuration.live import LiveSettings
from motorpool.api.program.configuration import load
from motorpool.api.program.outgoing_services import build_outgoing_services
from motorpool.api.program.settings_listing import describe
from motorpool.api.settings import Settings
from motorpool.runtime import SystemClock
from motorpool.storage.deliveries.outbox import OutgoingMessage

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)


def settings(**environ):
    return load(None, {f"MOTORPOOL_{name.upper()}": value for name, value in environ.items()})[0]


def outgoing_of(chosen):
    return build_outgoing_services(LiveSettings(chosen), SystemClock())


def test_what_is_not_configured_is_not_there():
    outgoing = outgoing_of(Settings())
    assert not outgoing.mail.enabled
    assert not outgoing.sms.enabled
    assert outgoing.geocoder is None


def test_every_kind_of_geocoder_can_be_chosen():
    for name in PROVIDERS:
        assert outgoing_of(settings(geocoder_type=name)).geocoder is not None


async def test_the_settings_reach_the_mail_server(mail_server):
    server = await mail_server(login=("fleet", "secret"))
    chosen = settings(
        mail_host="127.0.0.1",
        mail_port=str(server.port),
        mail_security="none",
        mail_username="fleet",
        mail_password="secret",
        mail_address="fleet@example.net",
        mail_name="Our fleet",
    )
    message = OutgoingMessage(channel="mail", to="ann@example.org", subject="Hi", text="Hello")
    await outgoing_of(chosen).mail.send(message, Envelope(message_id="1", date=NOON))
    assert (await server.next())[1]["From"] == "Our fleet <fleet@example.net>"
    assert server.logins == ["fleet"]


async def test_the_settings_reach_the_gateway(web_server):
    server = web_server()
    chosen = settings(
        sms_url=server.url + "/{phone}",
        sms_method="PUT",
        sms_headers="X-A: 1, X-B: 2",
        sms_authorization="Bearer secret",
        sms_template="text={message}",
    )
    message = OutgoingMessage(channel="sms", to="112", text="Hello")
    await outgoing_of(chosen).sms.send(message, Envelope(message_id="1"))
    (asked,) = server.asked
    assert (asked.method, asked.path, asked.body) == ("PUT", "/112", b"text=Hello")
    assert (asked.headers["X-A"], asked.headers["X-B"]) == ("1", "2")
    assert asked.headers["Authorization"] == "Bearer secret"


async def test_the_settings_reach_the_geocoder(web_server):
    server = web_server(lambda _: (200, b'{"address": {"road": "Marktplatz", "postcode": "76646"}}'))
    chosen = settings(
        geocoder_type="nominatim",
        geocoder_url=server.url,
        geocoder_key="secret",
        geocoder_language="de",
        geocoder_format="%r, %p",
    )
    geocoder = outgoing_of(chosen).geocoder
    assert await geocoder.address(1, 2) == "Marktplatz, 76646"
    assert "key=secret" in server.asked[0].path
    assert "accept-language=de" in server.asked[0].path


def test_allowed_networks_reach_the_guard():

    guard = outgoing_of(settings(webhook_allow="10.0.0.0/8")).http.guard
    assert guard.permits(ip_address("10.1.2.3"))
    assert not guard.permits(ip_address("192.168.0.1"))


def test_the_printed_defaults_can_be_read_back(tmp_path):
    file = tmp_path / "motorpool.toml"
    lines = [line.removeprefix("# ") for line in describe() if " = " in line or line.startswith("[")]
    wanted, kept = {"[mail]", "[sms]", "[geocoder]", "[outbox]"}, []
    inside = False
    for line in lines:
        inside = line in wanted if line.startswith("[") else inside
        if inside and (line.startswith("[") or "MOTORPOOL_" not in line):
            kept.append(line)
    file.write_text("\n".join(kept))
    assert load(file, {})[0] == Settings()


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1:8000/in?key=1", "https://example.org", "mqtt://broker", "mqtts://[::1]:8884/"]
)
def test_positions_may_be_forwarded_to_a_web_server_or_a_broker(url):
    chosen = settings(forward_url=url, forward_topic="{kind}/{deviceId}/{uniqueId}").forward
    assert (chosen.url, chosen.topic) == (url, "{kind}/{deviceId}/{uniqueId}")


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"mail_host": "h"}, "[mail] host and [mail] address need each other"),
        ({"mail_address": "a@example.org"}, "[mail] host and [mail] address need each other"),
        ({"mail_host": "h", "mail_address": "fleet"}, "MOTORPOOL_MAIL_ADDRESS: 'fleet' is no mail address"),
        ({"mail_security": "ssl"}, "MOTORPOOL_MAIL_SECURITY: 'ssl' is none of none, starttls, tls"),
        ({"mail_port": "70000"}, "MOTORPOOL_MAIL_PORT"),
        ({"sms_url": "sms.example.org/?key=secret"}, "MOTORPOOL_SMS_URL: the value is no address"),
        ({"sms_url": "https://ann:secret@example.org"}, "MOTORPOOL_SMS_URL: the value is no address"),
        ({"sms_url": "https://[secret"}, "MOTORPOOL_SMS_URL: the value is no address"),
        ({"sms_method": "DELETE"}, "MOTORPOOL_SMS_METHOD: 'DELETE' is none of"),
        ({"forward_url": "amqp://example.org"}, "MOTORPOOL_FORWARD_URL: the value is no address"),
        ({"forward_url": "mqtt://ann:secret@example.org"}, "MOTORPOOL_FORWARD_URL: the value is no address"),
        ({"forward_url": "mqtt://example.org/secret"}, "MOTORPOOL_FORWARD_URL: the value is no address"),
        ({"forward_topic": "fleet/#"}, "MOTORPOOL_FORWARD_TOPIC: 'fleet/#' is no topic"),
        ({"forward_topic": "fleet/{name}"}, "MOTORPOOL_FORWARD_TOPIC: 'fleet/{name}' is no topic"),
        ({"forward_mqtt_version": "3.1"}, "MOTORPOOL_FORWARD_MQTT_VERSION: '3.1' is none of 5, 3.1.1"),
        ({"geocoder_type": "atlas"}, "MOTORPOOL_GEOCODER_TYPE: 'atlas' is none of ban, geoapify"),
        ({"geocoder_cache_size": "0"}, "MOTORPOOL_GEOCODER_CACHE_SIZE: '0' is less than 1"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it_and_no_secret(environ, named):
    with pytest.raises(SettingsError) as caught:
        settings(**environ)
    assert named in str(caught.value)
    assert "secret" not in str(caught.value)
