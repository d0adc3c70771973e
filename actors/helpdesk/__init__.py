"""The helpdesk: tickets, their service levels and what follows from them (docs/helpdesk.md)."""
