"""Declared operations: input, access, audit and OpenAPI, and resources served from one declaration."""
