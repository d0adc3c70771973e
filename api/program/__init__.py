"""The program around the server: settings, start, log, backup and restore, the demo."""
