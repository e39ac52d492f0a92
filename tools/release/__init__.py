"""What is looked at before a release."""
