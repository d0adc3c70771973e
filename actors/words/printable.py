"""Text from outside as one line, for mails and log lines."""


def printable_line(text: str) -> str:
    """Return the text in one line of printable characters; each run of others becomes a space."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())
