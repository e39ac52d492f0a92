"""The pictures and figures of the documents."""
