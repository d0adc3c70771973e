"""Common passwords, many of them from breaches: what guesses begin with (docs/authentication.md#passwords).

The list is the union, in lower case, of two that others keep: `common-passwords.txt.gz` of Django 5.2 (BSD
licence; from entries of Have I Been Pwned) and the passwords of @zxcvbn-ts/language-common 4.1 (MIT licence).
Their licences are in `common_passwords_licenses.txt`.
"""

import gzip
from functools import cache
from pathlib import Path

LIST = Path(__file__).with_name("common_passwords.txt.gz")


def is_common(password: str) -> bool:
    """Return whether a password is on the list, whatever its case."""
    line = password.lower().encode("utf-8", "surrogatepass")
    return b"\n" not in line and b"\n%b\n" % line in _lines()


@cache
def _lines() -> bytes:
    """Return the list, 450 kB, each password between two line breaks; read when the first password is set."""
    return gzip.decompress(LIST.read_bytes())
