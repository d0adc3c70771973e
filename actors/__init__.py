"""State and behaviour of the fleet, as supervised actors."""
