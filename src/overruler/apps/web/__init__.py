"""The server: a page for phones, and what programs ask of it. `app.make_app` puts it together."""
