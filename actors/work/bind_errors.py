"""Why a port cannot be listened on, and what an operator does about it."""

import errno


def bind_problem(error: OSError, settings: str) -> str:
    """Return what is wrong and what to do; `settings` name the address, such as `[port] offset`."""
    match error.errno:
        case errno.EADDRINUSE:
            return f"the address is in use: end the program that uses it, or change {settings}"
        case errno.EACCES:
            return (
                f"this user may not: change {settings}, or let the service have ports below 1024"
                " (CAP_NET_BIND_SERVICE)"
            )
        case errno.EADDRNOTAVAIL:
            return f"this machine has no such address: change {settings}"
        case _:
            return f"{error.strerror or error}: see {settings}"
