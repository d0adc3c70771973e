"""The console: its sources, the program that builds it, and what it built."""
