"""Reports over HTTP (docs/reports.md)."""

from motorpool.api.engine.operations import Operation
from motorpool.api.resources.reports import lists, workbooks

__all__ = ["OPERATIONS"]

OPERATIONS: tuple[Operation, ...] = (*lists.OPERATIONS, *workbooks.OPERATIONS)
