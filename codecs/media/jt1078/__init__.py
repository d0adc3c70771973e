"""JT/T 1078: media packets to access units, and back."""
