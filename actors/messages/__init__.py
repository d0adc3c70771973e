"""The messages that actors send each other, the topics they publish on, and shared counters."""
