"""The fleet of `motorpool serve --demo`: what it sends, and what it configures over the API."""
