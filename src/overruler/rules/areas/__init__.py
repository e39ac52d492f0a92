"""Areas of the table: the ground near bodies, in arcs, shadows and zones, and where a piece may stand.

`reading` reads an area from a question as a `tree`, `membership` says exactly which pieces lie in it,
`ground` draws its outline, `doubt` says how sure both are, and `answer` puts them together.
"""
