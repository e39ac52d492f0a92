"""Tables with hills, as a picture from above shows them."""
