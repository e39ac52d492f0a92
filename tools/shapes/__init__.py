"""How the finder of plates, ovals and rectangles is taught: tables, crops of them, the network, its lessons."""
