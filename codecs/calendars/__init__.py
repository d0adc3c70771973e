"""iCalendar text to the time windows it describes."""
