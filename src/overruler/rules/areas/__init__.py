"""Areas of the table: the ground near bodies, and where a piece may stand.

`tree` reads an area from a question, `membership` says exactly which pieces lie in it, `ground` draws
its outline, and `answer` puts them together.
"""
