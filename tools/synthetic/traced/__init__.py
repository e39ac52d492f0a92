"""A ray tracer for photos of miniature games, with the truth of all that is in them.

Everything is in the board frame: millimetres, x right, y up on the table, z up out of it. Reading down:
mesh → materials → mats, things → table → camera → tracer → develop → truth.

"""
