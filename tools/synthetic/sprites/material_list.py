"""Which meshes become sprites, and how each stands.

Fetch them into one folder (they are no part of this project):

- `rpg/`: the files `_stl/*.stl` of github.com/jmettraux/rpg.scad (MIT; figures of 28 mm, dice, counters)
- `kaykit/`: `Characters/gltf/*.glb` of github.com/KayKit-Game-Assets/KayKit-Character-Pack-Adventures-1.0 (CC0)
- `oded/`: the files named below, from github.com/odedstein/meshes, `objects/*/`. Only these have a free licence:
  scorpion, koala, plane, skull, goathead: CC BY 3.0 (YahooJAPAN; hugoelec); cat, boot, boat, wingnut, hammer, penguin,
  demosthenes: CC BY 4.0; fish, spot, nefertiti: public domain
- `things/`: meshes out of the wheels of robosuite and metaworld (MIT): cans, bottles, mugs
- `zeroad/public.zip`: `usr/share/games/0ad/mods/public/public.zip` of the Debian package 0ad-data 0.0.26 (the game
  0 A.D. by Wildfire Games, CC BY-SA 3.0), or an archive of those of its members that are read
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
POSES_EACH = 5
"""Poses in which each rig becomes a sprite."""
ON_FOOT = (
    "athenians/infantry_spearman_e", "athenians/infantry_spearman_a",
    "athenians/hero_infantry_swordsman_themistocles", "athenians/infantry_archer_e", "athenians/healer",
    "athenians/infantry_javelinist_e", "britons/infantry_slinger_e", "britons/infantry_spearman_e",
    "britons/hero_infantry_swordsman_cunobelin", "britons/infantry_javelinist_e", "celts/healer",
    "gauls/infantry_carnyx_c", "gauls/infantry_swordsman_e", "gauls/infantry_spearman_c",
    "gauls/hero_infantry_swordsman_brennus", "han/infantry_halberdman_e", "han/infantry_crossbowman_e",
    "han/hero_infantry_liu_bang", "han/infantry_swordsman_e", "han/minister", "iberians/infantry_swordsman_e",
    "iberians/hero_infantry_swordsman_caros", "iberians/infantry_slinger_e", "carthaginians/infantry_swordsman_e",
    "carthaginians/infantry_pikeman_c", "kushites/infantry_maceman_e", "kushites/infantry_axeman_c",
    "kushites/infantry_archer_e", "macedonians/infantry_pikeman_e", "macedonians/hero_infantry_swordsman_alexander",
    "mauryas/infantry_maceman_c", "mauryas/infantry_swordsman_e", "mauryas/infantry_archer_e",
    "persians/infantry_archer_e", "persians/infantry_spearman_e", "persians/infantry_javelinist_e",
    "ptolemies/infantry_swordsman_e", "romans/infantry_swordsman_e", "romans/infantry_gladiator_swordsman",
    "romans/infantry_gladiator_spearman", "romans/hero_infantry_swordsman_scipio", "romans/infantry_javelinist_e",
    "seleucids/infantry_swordsman_e", "spartans/hero_infantry_spearman_leonidas", "spartans/infantry_spearman_e",
    "spartans/female_gorgo",
)  # fmt: skip
"""In `zeroad/`, `art/actors/units/`: figures on foot."""
RIDERS = (
    "units/athenians/cavalry_swordsman_e_m", "units/britons/cavalry_swordsman_e_m",
    "units/britons/chariot_javelinist_c_m", "units/carthaginians/cavalry_spearman_e_m",
    "units/gauls/hero_cavalry_swordsman_brennus_m", "units/gauls/cavalry_javelinist_e_m",
    "units/han/cavalry_crossbowman_e_m", "units/han/cavalry_spearman_e_m", "units/iberians/cavalry_spearman_e_m",
    "units/kushites/camel_swordsman_m", "units/kushites/cavalry_spearman_e_m",
    "units/macedonians/cavalry_spearman_e_m", "units/macedonians/hero_cavalry_swordsman_alexander_m",
    "units/mauryas/cavalry_swordsman_e_m", "units/mauryas/elephantry_archer_e_m", "units/mauryas/chariot_archer_c_m",
    "units/persians/cavalry_archer_e_m", "units/persians/cavalry_axeman_e_m", "units/persians/elephantry_c_m",
    "units/ptolemies/camel_archer_e_m", "units/romans/cavalry_swordsman_c_m",
    "units/romans/hero_cavalry_swordsman_scipio_m", "units/seleucids/cavalry_spearman_e_m",
    "units/hellenes/siege_oxybeles", "units/hellenes/siege_lithobolos_light", "units/britons/war_dog_mastiff_e",
    "fauna/bear_brown", "fauna/lion", "fauna/tiger", "fauna/wolf", "fauna/boar", "fauna/deer", "fauna/crocodile",
    "fauna/rhino", "fauna/bull", "fauna/dragon", "fauna/elephant_african_bush", "fauna/horse_celtic",
)  # fmt: skip
"""In `zeroad/`, `art/actors/`: riders, chariots, engines and beasts."""
STANDING = {
    "props/special/eyecandy/barrel_a": 18.0, "props/special/eyecandy/crate_a": 15.0,
    "props/special/eyecandy/vase_hele_a": 16.0, "props/special/eyecandy/vase_rome_a": 14.0,
    "props/special/eyecandy/statue_aphrodite_small": 60.0, "props/special/eyecandy/statues_roman": 50.0,
    "props/special/eyecandy/well_1_a": 35.0, "props/special/eyecandy/column_doric": 70.0,
    "props/special/eyecandy/food_sack": 12.0, "props/special/eyecandy/sword_rack": 22.0,
    "props/special/eyecandy/wood_pile_1_a": 18.0, "props/special/eyecandy/handcart_1": 25.0,
    "props/special/eyecandy/basket_celt_a": 12.0, "props/special/eyecandy/standing_stones": 45.0,
    "geology/stone_granite_small": 15.0, "geology/stone_granite_med": 35.0,
    "geology/stone_granite_boulder": 28.0, "flora/trees/dead_a_1": 100.0, "flora/trees/fir_sapling": 70.0,
    "props/flora/bush_tempe_me": 28.0, "props/flora/bush_medit_sm": 22.0,
}  # fmt: skip
"""In `zeroad/`, `art/actors/`: what stands about without a base, and how high it is in mm."""
DEEDS = ("idle", "walk", "run", "attack_melee", "attack_melee")
"""What bodies in `zeroad/` are doing."""
STOUT, MOUNTED_STOUT = 1.3, 1.1
"""How much stouter those on foot, and the mounted, become: miniatures are of heroic proportions."""
RIDER_MM = 42.0
"""The usual height of a rider."""
