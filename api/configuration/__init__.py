"""Settings as values: what each is, how it is parsed, and those that are changed while the server runs."""
