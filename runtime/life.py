"""The stations of an actor's life, and why one ends."""

import enum


class State(enum.Enum):
    """Where an actor stands in its life."""

    DOWN = "down"
    """No actor now: not started yet, or waiting to be restarted. Messages queue."""
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    """Gone, and this cell will not come back."""


class End(enum.Enum):
    """Why a life ends."""

    LEAVE = "left"
    """The actor's own wish: `leave`, or the return of `run`."""
    IDLE = "left idle"
    """Nobody needed it for long."""
    STOP = "was stopped"
    """Somebody asked for it; what was accepted before is handled first."""
    SUSPEND = "was suspended"
    """Its supervisor restarts those who lean on a failed one; the mailbox stays."""
    CRASH = "crashed"
