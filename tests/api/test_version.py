import re

from motorpool.api.version import INTERFACE, program_version


def test_the_interface_and_the_program_have_versions_of_their_own():
    assert INTERFACE == "8.20.0"
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", program_version())
