"""The network: it looks ever more coarsely, from 2 to 32 mm, far around, and then says cell by cell what is there."""

from torch import Tensor, nn

from overruler.vision.learned.hill_net import OUTPUT_CHANNELS
from overruler.vision.learned.inference import OUTPUT_STRIDE_PX
from training.lessons.rims.network import Wide, seen

INPUTS = 5


class HillNet(nn.Module):  # type: ignore[misc]
    """(N, 5, H, W) to (N, 5, H / 4, W / 4); H and W are multiples of 16."""

    def __init__(self, near: int = 16, mid: int = 32, far: int = 48) -> None:
        super().__init__()
        self.near = seen(INPUTS, near, 7, OUTPUT_STRIDE_PX)
        self.mid = nn.Sequential(seen(near, mid, 3, 2), Wide(mid, 1, deep=False))
        self.far = nn.Sequential(
            seen(mid, far, 3, 2), *(Wide(far, apart, deep=False) for apart in (1, 2, 4))
        )
        self.up = nn.ModuleList(
            [nn.ConvTranspose2d(far, mid, 2, 2), nn.ConvTranspose2d(mid, near, 2, 2)]
        )
        self.join = nn.ModuleList([seen(mid, mid, 3), seen(near, near, 3)])
        self.last = nn.Conv2d(near, OUTPUT_CHANNELS, 1)

    def forward(self, x: Tensor) -> Tensor:
        near = self.near(x)
        mid = self.mid(near)
        mid = self.join[0](self.up[0](self.far(mid)) + mid)
        out: Tensor = self.last(self.join[1](self.up[1](mid) + near))
        return out
