"""The terminal's end of JT/T 808, without I/O: what it sends, and what it reads of the platform."""
