"""Load for operators and for ourselves: simulated fleet and benchmark scenarios."""
