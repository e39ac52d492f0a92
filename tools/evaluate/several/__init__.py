"""Tables that several photos show: read, measured, spoiled, and held against their truth."""
