"""Who may see which device."""
