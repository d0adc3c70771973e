"""What reports read, what is kept of finished days, and scheduled reports."""
