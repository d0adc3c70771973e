from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from motorpool.api.settings import Settings


def test_every_field_of_every_section_is_described():
    for item in fields(Settings):
        section = getattr(Settings(), item.name)
        described = fields(section) if is_dataclass(section) else (item,)
        for entry in described:
            assert entry.metadata["setting"].sentence.endswith(".")


def test_settings_do_not_change_once_made():
    with pytest.raises(FrozenInstanceError):
        Settings().bind = "elsewhere:1"
