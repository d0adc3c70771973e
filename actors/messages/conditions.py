"""The kinds of conditions of a server (docs/server.md#conditions)."""

import resource

from motorpool.runtime import ConditionKind, Conditions

DATABASE = ConditionKind("database", "the database cannot be used now", fails_health=True)
"""It cannot be reached, does not answer, is read-only or full, or lets nobody in."""
POSITIONS_WAIT = ConditionKind("positions", "positions cannot be stored now", fails_health=True)
"""The database works, but positions wait: a table is locked, or very slow."""
DISK = ConditionKind("disk", "the disk of the server is nearly full", fails_health=True)
MEMORY = ConditionKind("memory", "the server has too little memory left; try again later")
OPEN_FILES = ConditionKind("open_files", "the server has too many files and connections open")
CLOCK = ConditionKind("clock", "the clock of the server was set")
NO_DUTIES = ConditionKind("duties", "no server of the cluster runs that does what is due at an instant")

ALL = (DATABASE, POSITIONS_WAIT, DISK, MEMORY, OPEN_FILES, CLOCK, NO_DUTIES)


def note_out_of_files(conditions: Conditions, consequence: str) -> None:
    """Enter OPEN_FILES; `consequence` says what cannot be done for want of files."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    conditions.enter(
        OPEN_FILES,
        f"too many files are open, the limit of the server is {limit} (LimitNOFILE of its service):"
        f" {consequence}",
    )
