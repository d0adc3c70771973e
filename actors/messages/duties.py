"""Messages to the actor that takes duties, in a cluster (docs/servers.md#duties)."""

from motorpool.actors.messages.changes import ApplyChanges
from motorpool.runtime import Kind

DUTY_KEEPER: Kind[None, ApplyChanges] = Kind("duty_keeper")
