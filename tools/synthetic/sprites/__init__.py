"""Real figures' meshes as small pictures, for the painter."""
