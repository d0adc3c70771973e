"""GT06 and its relatives: Concox, Jimi and clones (docs/protocols/gt06.md)."""
