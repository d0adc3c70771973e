from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from motorpool.api.program.settings import HttpSettings, PublicSettings, Settings


def test_every_field_of_every_section_is_described():
    for item in fields(Settings):
        section = getattr(Settings(), item.name)
        described = fields(section) if is_dataclass(section) else (item,)
        for entry in described:
            assert entry.metadata["setting"].sentence.endswith(".")


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
