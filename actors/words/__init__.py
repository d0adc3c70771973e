"""How records, times, units and texts are put into words and JSON."""
