"""Several servers on one database: relays, duties, and which server a device is connected to."""
