"""What a server serves: declarations turned, once, into everything that does not depend on the caller."""
