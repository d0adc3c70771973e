"""OsmAnd: positions as HTTP requests, in a query string or as JSON."""
