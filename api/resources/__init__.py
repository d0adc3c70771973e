"""One module a resource, whose operations are found here."""

from motorpool.api.engine.operations import Operation, find_operations

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[Operation, ...] = find_operations(__name__, __path__)
"""Every operation under /api but the document that describes them."""
