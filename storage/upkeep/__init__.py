"""Daily statistics, and the deletion of old rows."""
