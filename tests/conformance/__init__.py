"""A site with the fixtures that the official conformance suite looks for."""
