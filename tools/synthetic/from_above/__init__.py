"""Tables as a picture from above shows them, drawn quickly for the lessons of networks."""
