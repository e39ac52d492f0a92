"""The web servers: `phone.app` serves the page for phones, `live.app` the overlay for broadcasts."""
