"""What stands and lies on a traced table, as triangles."""
