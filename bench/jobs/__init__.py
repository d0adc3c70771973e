"""The jobs of an operator in the console, done in Chromium: by mouse, by keys, and by touch on a phone."""
