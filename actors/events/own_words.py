"""Own words of notifications: a subject and a text with placeholders (docs/events.md#own-words). Pure."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from motorpool.actors.words.printable import printable_line, unfit

PLACEHOLDERS: Final = (
    *("device", "event", "type", "time", "place", "address", "coordinates", "geofence", "speed", "limit"),
    *("driver", "alarm", "severity", "maintenance", "link"),
)
"""What may stand in braces, in the order in which the console offers it."""
MOST_CHARACTERS: Final[Mapping[str, int]] = {"subject": 200, "text": 1000}
"""Of each of the attributes; as characters of Unicode."""
MOST_LINES: Final = 20
MOST_FILLED: Final[Mapping[str, int]] = {"subject": 250, "text": 2000}
"""Characters of each with what the placeholders stand for; what is longer is cut."""
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_SHOWN = 40


class OwnWords(NamedTuple):
    """Templates; empty ones leave the words of the server."""

    subject: str = ""
    text: str = ""

    def fill(self, values: Mapping[str, str]) -> "OwnWords":
        """Return both with the values of `PLACEHOLDERS` in place of them."""
        # Cut before each character is looked at: what many placeholders stand for may be 80,000 of them.
        subject = _filled(self.subject, values)[: MOST_FILLED["subject"]]
        text = _filled(self.text, values)[: MOST_FILLED["text"]]
        lines = [printable_line(line) for line in text.splitlines()]
        return OwnWords(printable_line(subject), "\n".join(lines).strip())


STANDARD: Final = OwnWords()
"""No templates: the server words the message."""


def own_words_of(attributes: Mapping[str, Any]) -> OwnWords:
    """Return the words in the attributes of a notification; what would be refused today counts as absent."""
    return OwnWords(
        *(
            value if isinstance(value := attributes.get(key), str) and not problem_of(key, value) else ""
            for key in OwnWords._fields
        )
    )


def problem_of(key: str, value: object) -> str:
    """Return what is wrong with `subject` or `text` in the attributes of a notification; empty: nothing."""
    if not isinstance(value, str):
        return "is not text"
    if len(value) > MOST_CHARACTERS[key]:
        return f"has more than {MOST_CHARACTERS[key]} characters"
    if unfit(value, one_line=key == "subject"):
        return "has characters that are not printable"
    if len(value.splitlines()) > MOST_LINES:
        return f"has more than {MOST_LINES} lines"
    unknown = next((name for name in _PLACEHOLDER.findall(value) if name not in PLACEHOLDERS), None)
    if unknown is None:
        return ""
    return f"{{{printable_line(unknown[:_SHOWN])}}} is none of {', '.join(PLACEHOLDERS)}"


def _filled(template: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template)
