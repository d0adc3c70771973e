"""What a database must be like to be used, the embedded one or one of another server."""

from motorpool.storage.errors import SetupFailed

MIN_MAJOR_VERSION = 15
"""The oldest PostgreSQL whose features we use."""
ENCODING = "UTF8"
KNOWS_LETTERS = r"select lower(U&'I\00C4') = U&'i\00E4'"
"""Whether letters beyond ASCII have upper and lower case: names are compared regardless of it."""
_CREATE = "create it with `encoding 'UTF8' locale 'C.UTF-8' template template0`"
WITHOUT_LETTERS = (
    f"by its locale the database does not compare all letters regardless of case (Ä and ä): {_CREATE}"
)


def major_version(version: str) -> int:
    """Return the major version, such as 15 of "15.18" and 19 of "19beta1"."""
    return int(version[: len(version) - len(version.lstrip("0123456789"))])


def check(version: str, encoding: str) -> None:
    """Check the version of the server, such as "15.18", and the encoding of the database.

    Raises:
        SetupFailed: one of them cannot be used.
    """
    if major_version(version) < MIN_MAJOR_VERSION:
        raise SetupFailed(
            f"the database server is PostgreSQL {version}, needed is {MIN_MAJOR_VERSION} or later"
        )
    if encoding != ENCODING:
        raise SetupFailed(f"the encoding of the database is {encoding}, needed is {ENCODING}: {_CREATE}")
