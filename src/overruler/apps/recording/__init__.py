"""Recordings of broadcasts: the journal while they run, and the results of a film at the end."""
