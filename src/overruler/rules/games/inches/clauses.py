"""What the answers of a game in inches rest on."""

CLAUSES = {
    "inches.range": "A range is the distance in inches between the closest parts of two bases.",
    "inches.within": "Within a distance is what has its closest part no farther off.",
    "inches.wholly_within": "Wholly within a distance is what has every part of every base no farther off.",
    "inches.nearest": "Each part of a base is measured from the nearest piece of the other side.",
    "inches.inclusive": "A distance reached exactly counts as within it.",
    "inches.engaged": "Two are engaged where a piece of each is near enough to one of the other, level and in height.",
    "inches.height": "In height the gap between what two bodies stand from and to counts; it is 0 where these overlap.",
    "inches.coherency": "In coherency every piece has enough others of its unit near it, and all form one group.",
    "inches.spread": "In coherency no two pieces are farther apart than the spread, where one is given.",
    "inches.alone": "A unit of one piece is in coherency.",
    "inches.controls": "Who has the strictly larger sum near an objective controls it.",
    "inches.control_value": "A piece counts as much as its control value says, and 1 where it has none.",
    "inches.no_player": "A piece without a player controls nothing. (Decided here.)",
}
