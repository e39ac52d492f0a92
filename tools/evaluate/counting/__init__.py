"""Photos of tables whose truth is known, measured and counted."""
