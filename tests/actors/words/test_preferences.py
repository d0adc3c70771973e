from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from motorpool.actors.words.preferences import Preferences, preferences_of

BERLIN = {"timezone": "Europe/Berlin", "speedUnit": "kmh", "language": "de"}
NEW_YORK = {"timezone": "America/New_York", "speedUnit": "mph", "distanceUnit": "mi", "volumeUnit": "usGal"}


def test_the_user_counts_before_the_server_and_the_defaults_last():
    found = preferences_of(BERLIN, NEW_YORK)
    assert found.zone == ZoneInfo("Europe/Berlin")
    assert (found.speed.symbol, found.distance.symbol, found.volume.symbol) == ("km/h", "mi", "US gal")
    assert (found.language, found.altitude.symbol) == ("de", "m")
    assert preferences_of({}, {}) == Preferences()
    assert Preferences().zone is UTC
    # As in the console: api/console/src/format/style.ts.
    assert Preferences().speed.symbol == "km/h"


def test_the_server_can_force_its_own():
    found = preferences_of(BERLIN, NEW_YORK, force_server=True)
    assert found.zone == ZoneInfo("America/New_York")
    assert (found.speed.symbol, found.language) == ("mph", "de")


@pytest.mark.parametrize("wrong", ["", None, 3, "Mars/Olympus", ["kmh"], {}])
def test_a_value_that_is_not_known_counts_as_absent(wrong):
    keys = ("timezone", "language", "speedUnit", "distanceUnit", "altitudeUnit", "volumeUnit")
    assert preferences_of(dict.fromkeys(keys, wrong), BERLIN) == preferences_of({}, BERLIN)


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("pt-PT", "pt"),
        ("pt-BR", "pt-BR"),
        ("PT_br", "pt-BR"),
        ("zh_TW", "zh"),
        ("de-AT", "de"),
        ("DE", "de"),
        ("x1", "en"),
        ("eng", "en"),
    ],
)
def test_a_region_without_a_catalog_reads_that_of_the_language(tag, language):
    assert preferences_of({"language": tag}, {}).language == language


def test_units_convert_from_those_of_the_api():
    found = preferences_of({"speedUnit": "kmh", "distanceUnit": "mi", "altitudeUnit": "ft"}, {})
    assert 10 * found.speed.per_base == pytest.approx(18.52)
    assert 1609.344 * found.distance.per_base == pytest.approx(1)
    assert 0.3048 * found.altitude.per_base == pytest.approx(1)
    assert preferences_of({"speedUnit": "mph"}, {}).speed.per_base == pytest.approx(1.150779, abs=1e-6)
    assert 4.54609 * preferences_of({"volumeUnit": "impGal"}, {}).volume.per_base == pytest.approx(1)
