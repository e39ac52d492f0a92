"""What the answers of a game with its own ruler rest on."""

CLAUSES = {
    "bands.range": "The range is the number of the ruler's band that the closest distance lies in.",
    "bands.line": "The line between two bands belongs to the nearer one, and the last line to the last band.",
    "bands.contact": "Range 0 is contact; it lies on no ruler.",
    "bands.past": "Past the ruler's last line there is no range.",
    "bands.at": "At a band is what has its closest part in it.",
    "bands.within": "Within a band is what lies in it with every part of every base.",
    "bands.within_nearest": "Each part of a base is measured from the nearest piece of the other side.",
    "bands.within_contact": "A base in contact counts as inside band 1 for within. (Decided here.)",
    "bands.beyond": "Beyond a band is what has no part up to that band's end.",
    "bands.from_to": "Two numbers stand for every band from the first to the second.",
}
