"""A site with background work to be disturbed, as the live tests run it."""
