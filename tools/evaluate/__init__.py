"""What holds the program against a known truth, and counts."""
