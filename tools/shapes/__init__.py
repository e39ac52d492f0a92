"""What looks from above at plates, ovals and discs are taught on: tables, crops of them, networks, their lessons."""
