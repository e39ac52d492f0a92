"""Tables with markers and cameras over them, drawn at random, with their truth."""
