"""What a process of the program needs: its memory, and a display of its progress."""
