"""Pure functions on positions, folded in order by the device actor."""
