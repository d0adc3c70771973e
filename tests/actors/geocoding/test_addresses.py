import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.geocoding.addresses import Address, format_address

FULL = Address(
    house="6",
    road="Marktplatz",
    settlement="Bruchsal",
    suburb="Mitte",
    district="Karlsruhe",
    state="Baden",
    country="DE",
    postcode="76646",
    full="6, Marktplatz, Bruchsal",
)


@pytest.mark.parametrize(
    ("template", "line"),
    [
        ("%h %r, %t, %s, %c", "6 Marktplatz, Bruchsal, Baden, DE"),
        ("%r %h, %p %t", "Marktplatz 6, 76646 Bruchsal"),
        ("%u/%d", "Mitte/Karlsruhe"),
        ("%f", "6, Marktplatz, Bruchsal"),
        ("(%t)", "(Bruchsal)"),
        ("%t %x 100%", "Bruchsal %x 100%"),
    ],
)
def test_the_parts_stand_where_the_template_has_them(template, line):
    assert format_address(FULL, template) == line


@pytest.mark.parametrize(
    ("address", "line"),
    [
        (Address(road="Marktplatz", settlement="Bruchsal", country="DE"), "Marktplatz, Bruchsal, DE"),
        (Address(house="6", settlement="Bruchsal"), "6, Bruchsal"),
        (Address(settlement="Bruchsal"), "Bruchsal"),
        (Address(country="DE"), "DE"),
        (Address(house="6", road="Marktplatz"), "6 Marktplatz"),
    ],
)
def test_a_missing_part_takes_its_separator_along(address, line):
    assert format_address(address) == line


def test_where_no_part_fits_the_geocoders_own_line_is_the_answer():
    assert format_address(Address(full="North Sea")) == "North Sea"
    assert format_address(Address()) == ""


@given(st.text(max_size=50), st.booleans())
def test_any_template_gives_a_line(template, empty):
    assert isinstance(format_address(Address() if empty else FULL, template), str)
