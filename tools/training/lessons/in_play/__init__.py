"""The network that tells bases from lookalikes on tables in play."""
