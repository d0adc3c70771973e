"""Errors between actors. Values are attributes; the text is one sentence."""


def first_error(error: BaseException) -> BaseException:
    """Return the first error in a group, and in the groups within it; an error that is no group itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class ActorError(Exception):
    """Root of everything this package raises on purpose."""


class ActorStopped(ActorError):
    """There is no actor for this ref, and a message does not start one."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has stopped")
        self.path = path


class ActorFailed(ActorError):
    """The actor crashed on this very request, or while it was being started; the crash is the cause."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} failed")
        self.path = path


class MailboxFull(ActorError):
    """The mailbox has no room and the sender did not want to wait."""

    def __init__(self, path: str, size: int) -> None:
        super().__init__(f"the mailbox of {path} holds {size} messages and is full")
        self.path = path
        self.size = size


class AskTimedOut(ActorError):
    """No answer in time. Whether the request has been or will be handled is unknown."""

    def __init__(self, path: str, request: str, seconds: float) -> None:
        super().__init__(f"{path} did not answer {request} within {seconds:g} s")
        self.path = path
        self.request = request
        self.seconds = seconds


class Unreachable(ActorError):
    """The node of the actor cannot be reached. The message was not handed over, so it may be sent again."""

    def __init__(self, node: int, reason: str) -> None:
        super().__init__(f"node {node} cannot be reached: {reason}")
        self.node = node


class Busy(ActorError):
    """The node of the actor has no room for the message, which was not accepted and may be sent again."""

    def __init__(self, node: int, reason: str) -> None:
        super().__init__(f"node {node} is busy: {reason}")
        self.node = node


class AlreadyStarted(ActorError):
    """An actor was to be started under a key that has one."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is already there")
        self.path = path


class RestartIntensityExceeded(ActorError):
    """A supervisor gave up: too many restarts within the period; the last crash is the cause."""

    def __init__(self, path: str, intensity: int, period_seconds: float) -> None:
        super().__init__(f"{path} needed more than {intensity} restarts within {period_seconds:g} s")
        self.path = path
        self.intensity = intensity
        self.period_seconds = period_seconds


class UnknownKind(ActorError):
    """The tree has no place for actors of this kind."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"no actor of kind {kind} in this system")
        self.kind = kind


class Lagged(ActorError):
    """A subscription was overrun and lost this many values; the next receive returns the oldest one kept."""

    def __init__(self, topic: str, count: int) -> None:
        super().__init__(f"a reader of {topic} lost {count} values")
        self.topic = topic
        self.count = count
