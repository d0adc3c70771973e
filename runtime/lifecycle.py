"""The states of an actor's life, and the reasons for which it ends."""

import enum


class State(enum.Enum):
    """The state of an actor."""

    DOWN = "down"
    """No actor now: not started yet, or waiting to be restarted. Messages queue."""
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    """Gone, and this cell will not come back."""


class EndReason(enum.Enum):
    """Why a life ends."""

    LEAVE = "left"
    """At the actor's own request: `leave`, or the return of `run`."""
    IDLE = "left idle"
    """It had no message for `idle_seconds`."""
    STOP = "was stopped"
    """It was asked to stop; what was accepted before is handled first."""
    SUSPEND = "was suspended"
    """Its supervisor restarts those that depend on a failed one; the mailbox stays."""
    CRASH = "crashed"
