"""What counts as a mistake of a network that looks from above."""

import torch
from torch import Tensor, nn

PLACE, SIZE, TURN = 1.0, 3.0, 0.7
"""How much each kind of mistake weighs beside taking a base for none."""


def loss(answer: Tensor, truth: Tensor) -> Tensor:
    """Penalty-reduced focal loss of the heat (Zhou et al., Objects as Points, 2019), and how far the rest is off."""
    heat, counts, near = truth[:, :3], truth[:, 3:4], truth[:, 4]
    logit = answer[:, :3]
    p = torch.sigmoid(logit).clamp(1e-4, 1 - 1e-4)
    hit = heat > 0.999
    found = ((1 - p) ** 2 * nn.functional.logsigmoid(logit))[hit].sum()
    missed = ((1 - heat) ** 4 * p**2 * nn.functional.logsigmoid(-logit) * counts)[~hit].sum()
    total = -(found + missed) / hit.sum().clamp(min=1)
    on = near > 0
    if not on.any():
        return total
    said, true = answer.permute(0, 2, 3, 1)[on], truth.permute(0, 2, 3, 1)[on]
    place = nn.functional.smooth_l1_loss(said[:, 3:5], true[:, 5:7], beta=0.1)
    size = nn.functional.smooth_l1_loss(said[:, 5:7], true[:, 7:9], beta=0.03)
    turn = sum(
        (
            ((said[:, 7 + 2 * k : 9 + 2 * k] - true[:, 9 + 2 * k : 11 + 2 * k]) ** 2).sum(1)
            * true[:, 15 + k]
        ).sum()
        / true[:, 15 + k].sum().clamp(min=1)
        for k in range(3)
    )
    return total + PLACE * place + SIZE * size + TURN * turn
