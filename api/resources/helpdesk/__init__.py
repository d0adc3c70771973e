"""Companies, what they configure, and their tickets (docs/helpdesk.md)."""

from motorpool.api.engine.operations import Operation, find_operations

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[Operation, ...] = find_operations(__name__, __path__)
