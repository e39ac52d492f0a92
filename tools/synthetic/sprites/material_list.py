"""Which meshes become sprites, and how each stands.

Fetch them into one folder (they are no part of this project):

- `rpg/`: the files `_stl/*.stl` of github.com/jmettraux/rpg.scad (MIT; figures of 28 mm, dice, counters)
- `kaykit/`: `Characters/gltf/*.glb` of github.com/KayKit-Game-Assets/KayKit-Character-Pack-Adventures-1.0 (CC0)
- `oded/`: the files named below, from github.com/odedstein/meshes, `objects/*/`. Only these have a free licence:
  scorpion, koala, plane, skull, goathead: CC BY 3.0 (YahooJAPAN; hugoelec); cat, boot, boat, wingnut, hammer, penguin,
  demosthenes: CC BY 4.0; fish, spot, nefertiti: public domain
- `things/`: meshes out of the wheels of robosuite and metaworld (MIT): cans, bottles, mugs
A file that is missing is left out, and its name is printed.
"""

FIGURES = (
    "gno_bow", "gno_hammer", "gno_hammer_1", "gnome", "gnome_1", "king_troll", "mini_axeman",
    "mini_axeman1", "mini_axeman2", "mini_axeman3", "mini_footman_round_shield_sword",
    "mini_gerald", "mini_goblin_bow0", "mini_goblin_scimitar0", "mini_goblin_scimitar1",
    "mini_housecarl", "mini_oswald", "mini_robed_thing", "mini_shadow0", "mini_shadow1",
    "mini_skinny", "mini_spearman", "mini_staffman0", "monk_0", "monk_1", "saxon0", "stickman", "wyrmling",
)  # fmt: skip
"""In `rpg/`: they stand on a base below z = 0, which is cut off. Coiled snakes are left out: they look like rims."""
BEASTS = ("mini_giant_boar_0", "king_troll", "wyrmling")
"""In `rpg/`: what also stands on large bases."""
LYING = {
    "scorpion_low_resolution": "y", "koala_low_resolution": "y", "cat-low-resolution": "y",
    "spot_low_resolution": "y", "fish_low_resolution": "y", "penguin": "y", "plane": "z",
    "boat": "y",
}  # fmt: skip
"""In `oded/`: beasts and machines, and which of their axes points up."""
OBJECTS = {
    "oded/skull_low_resolution.obj": "y", "oded/goathead.obj": "y", "oded/boot.obj": "y",
    "oded/wingnut.obj": "x", "oded/hammer.obj": "y", "oded/demosthenes-low-res.obj": "y",
    "oded/nefertiti-lowres.obj": "y", "rpg/hit_dice.stl": "z", "rpg/c_heart.stl": "z",
    "rpg/c_sling_bullet.stl": "z", "rpg/dicetower.stl": "z", "rpg/hexbox_30_fortis.stl": "z",
    "rpg/iniflag.stl": "z", "rpg/base_hi.stl": "z", "rpg/holder.stl": "z", "rpg/skull0.stl": "z",
    "rpg/index_top.stl": "z", "things/can.obj": "z", "things/bottle.obj": "z",
    "things/lemon.obj": "z", "things/milk.obj": "z", "things/mug.stl": "z", "things/cup.stl": "z",
    "things/therm_body.stl": "z", "things/puck.stl": "z", "things/basketballouter.stl": "z",
    "things/stopbutton.stl": "z", "things/dial.stl": "z", "things/club_head.stl": "z",
}  # fmt: skip
"""What lies about without a base, and which of its axes points up."""
SIZES_MM = {
    "hit_dice": 14.0, "c_heart": 3.0, "c_sling_bullet": 3.0, "dicetower": 120.0,
    "hexbox_30_fortis": 28.0, "iniflag": 60.0, "base_hi": 22.0, "holder": 23.0, "index_top": 25.0,
    "can": 90.0, "bottle": 110.0, "lemon": 45.0, "milk": 90.0, "mug": 85.0, "cup": 70.0,
    "therm_body": 110.0, "puck": 16.0, "basketballouter": 35.0, "stopbutton": 22.0, "dial": 20.0,
    "boot": 22.0, "hammer": 8.0, "club_head": 25.0, "nefertiti-lowres": 45.0,
    "demosthenes-low-res": 40.0, "wingnut": 8.0,
}  # fmt: skip
"""How high objects are; others are `OBJECT_MM` high."""
OBJECT_MM, FIGURE_MM, BEAST_MM = 18.0, 32.0, 38.0
"""Usual heights of objects, of figures on foot and of beasts."""
RIG_POSES = (
    ("1H_Melee_Attack_Chop", 0.4), ("1H_Melee_Attack_Slice_Diagonal", 0.5),
    ("1H_Melee_Attack_Stab", 0.5), ("1H_Ranged_Aiming", 0.5), ("2H_Melee_Attack_Chop", 0.35),
    ("2H_Melee_Attack_Spin", 0.5), ("2H_Melee_Idle", 0.3), ("2H_Ranged_Aiming", 0.5),
    ("Block", 0.6), ("Cheer", 0.5), ("Dualwield_Melee_Attack_Slice", 0.4), ("Idle", 0.4),
    ("Running_A", 0.3), ("Running_B", 0.7), ("Spellcast_Raise", 0.6), ("Spellcast_Shoot", 0.5),
    ("Unarmed_Melee_Attack_Kick", 0.5), ("Walking_A", 0.6),
)  # fmt: skip
"""Animations of the rigs in `kaykit/`, and the moment of each."""
HEAD_SHARES = (0.5, 0.85)
"""Their heads are too large for miniatures: they get such a share of their size."""
POSES_EACH = 7
"""Poses in which each rig becomes a sprite."""
