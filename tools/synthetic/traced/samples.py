"""The sample photos: what each shows."""

from synthetic.traced.spec import BOARDS_MM, Spec

FOUR, FIVE = "DICT_4X4_50", "DICT_5X5_50"

SAMPLES = {
    "legion_desert": Spec(
        seed=1, kind="4k", game="legion", mat="desert", light="window", tilt_deg=13, layout="known",
        markers=8, dictionary=FOUR, marker_mm=60, terrain=5, props=3, rulers=1, crowd=0.9,
        size_mm=BOARDS_MM["legion"], armies=("rebels", "empire"), table="walnut",
    ),
    "legion_grass": Spec(
        seed=23, kind="phone", game="legion", mat="grass", light="mixed", tilt_deg=22, layout="known",
        markers=6, dictionary=FOUR, marker_mm=80, terrain=6, props=2, rulers=1, crowd=0.8,
        size_mm=BOARDS_MM["legion"], armies=("north", "south"), table="ash",
    ),
    "skirmish_city": Spec(
        seed=32, kind="phone", game="inches", mat="city", light="ceiling", tilt_deg=9, layout="known",
        markers=4, dictionary=FIVE, marker_mm=60, terrain=5, props=3, rulers=1, crowd=0.9,
        size_mm=BOARDS_MM["inches"], armies=("forest", "violet"), table="oak",
    ),
    "xwing_space": Spec(
        seed=42, kind="hd", game="xwing", mat="space", light="window", tilt_deg=7, layout="known",
        markers=4, dictionary=FOUR, marker_mm=50, terrain=0, props=5, rulers=1, crowd=1.2,
        size_mm=BOARDS_MM["xwing"], armies=("rebels", "empire"), table="felt",
    ),
}  # fmt: skip
