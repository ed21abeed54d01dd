"""What a site may connect to other systems."""
