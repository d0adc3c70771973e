"""Several servers on one database: their rows, duties and texts to each other."""
