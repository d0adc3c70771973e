"""Events in words: every type in every language, in the units and the time zone of who reads them."""

from datetime import UTC, datetime

import pytest

from motorpool.actors.events.coordinates import format_coordinates
from motorpool.actors.events.rendering import EventFacts, Reader, describe, reader_of, render
from motorpool.actors.rules.event_types import EVENT_TYPES
from motorpool.actors.words.catalog import languages
from motorpool.actors.words.preferences import preferences_of
from motorpool.storage.records import (
    Device,
    Event,
    Geofence,
    Maintenance,
    Position,
    Review,
    ServerSettings,
    User,
)

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
ATTRIBUTES = {
    "alarm": "sos,ownWord",
    "result": "ok",
    "reason": "no",
    "file": "1.jpg",
    "lastUpdate": 1_781_524_800_000,
    "speed": 50.0,
    "speedLimit": 40.0,
    "before": 50.0,
    "after": 20.0,
    "driverUniqueId": "77",
    "totalDistance": 1_000_000.0,
}


def reads(style="dd", **attributes):
    return Reader(preferences_of(attributes, {}), style)


def facts(kind, **fields):
    known = {
        "event": Event(id=9, type=kind, event_time=NOON, device_id=1, attributes=ATTRIBUTES),
        "device": Device(id=1, name="Van <1>"),
        "position": Position(latitude=52.5163, longitude=-13.3777, speed=10.0, address="Mall & Co"),
        "geofence": Geofence(id=3, name="Depot"),
        "maintenance": Maintenance(id=4, name="Oil", type="totalDistance"),
        "driver": "Ann",
        "link": "https://fleet.example.org/event/9",
    }
    return EventFacts(**{**known, **fields})


@pytest.mark.parametrize("name", languages())
def test_every_type_is_rendered_with_and_without_what_is_known(name):
    for kind in EVENT_TYPES:
        full = render(facts(kind), reads(language=name))
        assert full.subject.startswith("Van <1>: ")
        assert full.digest.startswith(full.subject)
        assert full.text.startswith(full.digest + "\n")
        assert "https://fleet.example.org/event/9" in full.text
        assert "Van &lt;1&gt;" in full.html
        assert "<1>" not in full.html
        assert "Mall &amp; Co" in full.html
        bare = Event(type=kind, event_time=NOON)
        assert len(render(EventFacts(event=bare), reads(language=name)).digest) > 1


def test_values_are_in_the_units_and_the_zone_of_the_reader():
    kmh = reads("dms", language="de", timezone="Europe/Berlin", speedUnit="kmh")
    shown = render(facts("deviceOverspeed"), kmh)
    expected = "Van <1>: hat die zulässige Geschwindigkeit überschritten: 92,6 km/h (Grenze 74,1 km/h)"
    assert shown.digest == f"{expected}, 15.06.2026 14:00:00"
    assert "Position: 52° 30' 58.7\" N, 13° 22' 39.7\" W" in shown.text
    miles = reads(timezone="America/New_York", speedUnit="mph", distanceUnit="mi", volumeUnit="usGal")
    shown = render(facts("deviceOverspeed"), miles)
    assert "57.5 mph (limit 46.0 mph), 2026-06-15 08:00:00" in shown.digest
    assert "13.2 US gal to 5.3 US gal" in render(facts("deviceFuelDrop"), miles).digest
    assert "Oil (621.4 mi)" in render(facts("maintenance"), miles).digest
    assert "alarm: emergency button; ownWord, 2026" in render(facts("alarm"), miles).digest
    assert "last message 2026-06-15 08:00:00" in render(facts("deviceInactive"), miles).digest


def test_the_place_is_a_line_of_its_own_unless_the_event_names_it():
    assert "Place: Yard\nAddress: Mall & Co\n" in render(facts("alarm"), reads(), " Yard\n").text
    assert "Place" not in render(facts("geofenceEnter"), reads(), "Depot").text
    assert "Place" not in render(facts("alarm"), reads()).text


def test_an_alarm_says_what_it_is_exactly():
    attributes = {"alarm": "general", "alarmDetail": "phoneUse:1"}
    event = Event(type="alarm", event_time=NOON, attributes=attributes)
    shown = render(facts("", event=event), Reader())
    assert shown.subject == "Van <1>: alarm: phone in hand, level 1"
    assert shown.digest.startswith("Van <1>: alarm: phone in hand, level 1, 2026-06-15")
    assert describe(EventFacts(event=event), Reader()) == "Phone in hand, level 1"
    portuguese = render(facts("", event=event), reads(language="pt_BR"))
    assert portuguese.subject == "Van <1>: alarme: celular na mão, nível 1"


def test_the_severity_of_what_waits_for_review_is_a_line():
    attributes = {"alarm": "sos"}
    event = Event(type="alarm", event_time=NOON, attributes=attributes, severity="CRITICAL", review=Review())
    assert "\nSeverity: critical\n" in render(facts("", event=event), Reader()).text
    assert "Gravidade: crítico" in render(facts("", event=event), reads(language="pt")).text
    assert "Severity" not in render(facts("alarm"), Reader()).text


def test_a_file_or_a_fault_of_a_camera_names_the_camera():
    names = {"2": "front"}
    sent = Event(type="media", event_time=NOON, attributes={"media": "image", "file": "1.jpg"})
    photo = facts("", event=sent, position=Position(attributes={"channel": 2}), camera_names=names)
    assert render(photo, Reader()).subject == "Van <1>: sent a file: 1.jpg, camera 2 (front)"
    assert ", camera 2 (front), 2026-06-15" in render(photo, Reader()).digest
    assert describe(photo, reads(language="pt")) == "Enviou um ficheiro: 1.jpg, câmara 2 (front)"
    broken = {"alarm": "fault", "alarmDetail": "videoSignalLost"}
    lost = facts(
        "",
        event=Event(type="alarm", event_time=NOON, attributes=broken),
        position=Position(attributes={"videoLost": 6, "videoCovered": 1, "channel": 9}),
        camera_names=names,
    )
    assert describe(lost, Reader()) == "Camera without signal, camera 2 (front), 3"
    for nothing in (True, -1, 1 << 40, "6", None):
        bare = facts("", event=lost.event, position=Position(attributes={"videoLost": nothing}))
        assert describe(bare, Reader()) == "Camera without signal"


def test_a_sensor_has_its_name_and_unit():
    attributes = {"sensor": "temp1", "value": -15.25, "limit": -18.0}
    event = Event(type="sensorOutOfRange", event_time=NOON, attributes=attributes)
    assert describe(EventFacts(event=event), Reader()) == (
        "Temperature 1 out of range: -15.2 °C (limit -18.0 °C)"
    )
    german = render(facts("", event=event), reads(language="de"))
    assert german.subject == "Van <1>: Temperatur 1 außerhalb des Bereichs: -15,2 °C (Grenze -18,0 °C)"
    back = Event(type="sensorInRange", event_time=NOON, attributes={"sensor": "coldRoom", "value": 3})
    assert describe(EventFacts(event=back), Reader()) == "Cold room back in range: 3"


def test_what_stands_alone_has_a_capital():
    assert describe(facts("deviceOverspeed"), reads(speedUnit="kmh")) == (
        "Exceeded the speed limit: 92.6 km/h (limit 74.1 km/h)"
    )
    assert describe(facts("geofenceEnter"), reads(language="de")) == "Hat Depot erreicht"
    assert describe(facts("", event=Event(type="ticketClosed", event_time=NOON)), Reader()) == ""


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [("hours", 7_200_000, "2.0 h"), ("fuelUsed", 5, "5.0"), ("fixTime", 0, "1970-01-01 00:00:00")],
)
def test_what_is_due_is_in_the_unit_of_its_type(kind, value, expected):
    event = Event(type="maintenance", event_time=NOON, attributes={kind: value})
    maintenance = Maintenance(name="Oil", type=kind)
    assert f"Oil ({expected})" in render(facts("", event=event, maintenance=maintenance), Reader()).digest


@pytest.mark.parametrize("value", [None, "text", True, [1], 1e30, {"a": 1}])
def test_odd_values_are_left_out(value):
    attributes = dict.fromkeys(ATTRIBUTES, value)
    for kind in EVENT_TYPES:
        event = Event(type=kind, event_time=NOON, attributes=attributes)
        assert render(facts(kind, event=event), Reader()).digest


def test_hours_of_drivers_say_which_limit_and_what_is_left():
    attributes = {"rule": "fortnightly", "driverId": 4, "left": 1_800_000}
    event = Event(type="driverHoursWarning", event_time=NOON, attributes=attributes)
    shown = render(facts("", event=event), Reader()).digest
    assert "Ann nears a limit: driving of two weeks, 30 min left" in shown
    event = Event(type="driverHoursExceeded", event_time=NOON, attributes={"rule": "dailyRest"})
    shown = render(facts("", event=event, driver=""), reads(language="de")).digest
    assert "der Fahrer hat eine Grenze überschritten: tägliche Ruhezeit" in shown


def test_line_breaks_of_others_stay_in_their_line():
    event = Event(type="commandResult", event_time=NOON, attributes={"result": "a\r\nBcc: x@example.org"})
    shown = render(facts("", event=event), Reader())
    assert "a Bcc: x@example.org" in shown.subject
    assert "\n" not in shown.subject + shown.digest


def test_a_type_without_a_text_is_named():
    shown = render(EventFacts(event=Event(type="ticketClosed", event_time=NOON)), reads(language="de"))
    assert (shown.subject, shown.digest, shown.text) == ("ticketClosed",) * 3


def test_an_unknown_language_is_english():
    assert "has stopped" in render(facts("deviceStopped"), reads(language="ja")).digest


def test_a_reader_is_made_of_the_users_settings_then_the_servers():
    server = ServerSettings(coordinate_format="ddm", attributes={"speedUnit": "kmh", "language": "de"})
    user = User(attributes={"speedUnit": "mph", "language": "zh_TW"})
    assert reader_of(user, server) == reads("ddm", language="zh", speedUnit="mph")
    forced = ServerSettings(force_settings=True, coordinate_format="dms", attributes={"speedUnit": "kmh"})
    own = User(coordinate_format="ddm", attributes={"speedUnit": "mph"})
    assert reader_of(own, forced) == reads("dms", speedUnit="kmh")
    assert reader_of(User(coordinate_format="x"), ServerSettings()) == Reader()
    assert len({reader_of(user, server), reader_of(user, server)}) == 1


def test_minutes_never_read_as_sixty():
    shown = format_coordinates(-0.99999999, 59.9999999, "dms")
    assert shown == "1° 00' 00.0\" S, 60° 00' 00.0\" E"
    assert format_coordinates(1.5, -2.25, "ddm") == "1° 30.0000' N, 2° 15.0000' W"
