"""Tables and the database behind them. Knows no HTTP, no actor, no device protocol."""
