"""What the answers of Tide of Iron rest on."""

CLAUSES = {
    "tide_of_iron.check": "Before a unit attacks an enemy, its player sees whether the target is in range.",
    "tide_of_iron.count": "The distance is counted in hexes from the attacker's to the target's, which counts too.",
    "tide_of_iron.close": "A target in an adjacent hex is at close range, whatever the attacker's range value.",
    "tide_of_iron.normal": "A target no farther than the attacker's range value is at normal range.",
    "tide_of_iron.long": "A target farther than the range value, but no farther than twice it, is at long range.",
    "tide_of_iron.out": "Farther than twice its range value a unit reaches nothing and may not attack.",
    "tide_of_iron.fire_and_movement": "A unit on Fire and Movement attacks at close or normal range, never at long.",
    "tide_of_iron.lowest": "Of all figures that fire, the one with the lowest range value sets the squad's.",
    "tide_of_iron.held_back": "A squad may leave figures out of the fire; those left out no longer lower its range.",
    "tide_of_iron.against": "A figure's range value is the one that it has against the target's type.",
    "tide_of_iron.levels": "Ground lies at level 0, on a low hill (1) or on a high hill (2).",
    "tide_of_iron.higher": "Firing at lower ground adds 1 to the range value, however many levels lie between.",
    "tide_of_iron.higher_doubled": "What higher ground adds is doubled with the rest of the value for long range.",
    "tide_of_iron.effect": "How easily the target is hit depends on which of the three ranges it is at.",
    "tide_of_iron.range_alone": "Whose the target is and what lies between are not looked at. (Decided here.)",
    "tide_of_iron.defaults": "Unless told, all figures fire, none moves, all are infantry on level 0. (Decided here.)",
    "tide_of_iron.twice": "A figure that is named twice fires once. (Decided here.)",
    "tide_of_iron.center": "A piece stands in the hex that holds the middle of its base. (Decided here.)",
    "tide_of_iron.same_hex": "Pieces that share a hex have no range; none is given where that is sure. (Decided here.)",
}
