"""Companies, what they configure, and their tickets."""
