from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import get_type_hints

import pytest

from motorpool.actors.settings import PublicSettings
from motorpool.api.configuration.keys import sentences
from motorpool.api.settings import HttpSettings, Settings


def test_every_field_of_every_section_is_described():
    described = sentences()
    for item in fields(Settings):
        section = getattr(Settings(), item.name)
        if is_dataclass(section):
            for entry in fields(section):
                assert described[item.name, entry.name].endswith(".")
        else:
            assert described["", item.name].endswith(".")


def test_every_constraint_is_of_a_kind_that_is_checked():
    for item in fields(Settings):
        for hint in get_type_hints(type(getattr(Settings(), item.name)), include_extras=True).values():
            for meta in getattr(hint, "__metadata__", ()):
                assert set(meta.extra or {}) <= {"unit", "choices", "form", "secret", "key", "destination"}
                unchecked = (meta.gt, meta.lt, meta.multiple_of, meta.pattern, meta.min_length)
                assert not any(unchecked)


def test_settings_do_not_change_once_made():
    with pytest.raises(FrozenInstanceError):
        Settings().bind = "elsewhere:1"


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        (Settings(), "http://127.0.0.1:8082"),
        (Settings(bind="0.0.0.0:80"), "http://localhost:80"),
        (Settings(bind="[::]:80"), "http://localhost:80"),
        (Settings(bind="[::1]:80"), "http://[::1]:80"),
        (Settings(http=HttpSettings(tls_certificate="c", tls_key="k")), "https://127.0.0.1:8082"),
        (Settings(public=PublicSettings(url="https://x.example/fleet/")), "https://x.example/fleet"),
    ],
)
def test_links_lead_to_the_public_address_or_else_to_the_one_that_is_bound(settings, url):
    assert settings.public_url == url
