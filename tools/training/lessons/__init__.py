"""What each network is taught."""
