"""Events and the notifications that they match."""
