"""One file a game, each with its record in `GAME`."""
