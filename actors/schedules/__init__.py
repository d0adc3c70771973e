"""Scheduled commands: from the edges of calendars to the steps that are sent."""
