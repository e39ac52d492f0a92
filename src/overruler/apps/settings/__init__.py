"""Settings of a table: the options that describe it, and the user's own file with defaults for them."""
