"""What serves declared operations: routes, reading of input, OpenAPI, and the plain resource resources."""
