import pytest

import motorpool.runtime.errors as errors

CASES = [
    (errors.ActorStopped("devices/42"), "devices/42 has stopped"),
    (errors.ActorFailed("devices/42"), "devices/42 failed"),
    (errors.MailboxFull("devices/42", 1000), "the mailbox of devices/42 holds 1000 messages and is full"),
    (errors.AskTimedOut("http", "GetStatus", 0.25), "http did not answer GetStatus within 0.25 s"),
    (errors.AlreadyStarted("devices/42"), "devices/42 is already there"),
    (errors.RestartIntensityExceeded("system", 5, 60), "system needed more than 5 restarts within 60 s"),
    (errors.UnknownKind("device"), "no actor of kind device in this system"),
    (errors.Unreachable(4, "it is not there"), "node 4 cannot be reached: it is not there"),
    (errors.Busy(4, "too much waits"), "node 4 is busy: too much waits"),
    (errors.Lagged("positions", 7), "a reader of positions lost 7 values"),
]


@pytest.mark.parametrize(("error", "text"), CASES)
def test_an_error_is_one_sentence_with_its_values(error: errors.ActorError, text: str) -> None:
    assert str(error) == text
    assert isinstance(error, errors.ActorError)


def test_every_error_is_tried_here() -> None:
    public = {each for each in vars(errors).values() if isinstance(each, type)}
    assert public - {errors.ActorError} == {type(error) for error, _ in CASES}
