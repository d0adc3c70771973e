"""Input of reports, stored results of finished days, and scheduled reports."""
