"""The weights of a network out of the ONNX file that it became, to go on teaching it.

An exported convolution has taken the normalisation behind it into its own weights. It gets one back here that changes
nothing: what the convolution says of some pictures is its mean and spread, and it scales and shifts back to them.
"""

from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor, nn

from training.lite import Lite

KINDS: dict[type[nn.Module], str] = {
    nn.Conv2d: "Conv",
    nn.ConvTranspose2d: "ConvTranspose",
    nn.Linear: "Gemm",
}
"""Layers with weights, and what ONNX calls them."""


def revive(net: nn.Module, path: Path, pictures: Tensor) -> None:
    """Give `net` the weights that the file holds; its normalisations are set by these pictures (N, channels, H, W).

    ValueError where the file is of another network.
    """
    layers, norms = _layers(net), _norms(net)
    stored = _split_first(_weights(path), layers)
    if [tuple(layer.weight.shape) for layer in layers] != [
        tuple(weight.shape) for weight, _ in stored
    ]:
        raise ValueError(f"{path}: holds another network than this")
    with torch.no_grad():
        for layer, (weight, bias) in zip(layers, stored, strict=True):
            layer.weight.copy_(weight)
            norm = norms.get(layer)
            if norm is not None:
                _set(norm, bias, torch.zeros_like(bias), torch.ones_like(bias))
            elif layer.bias is not None:
                layer.bias.copy_(bias)
        for norm, said in _heard(net, list(norms.values()), pictures).items():
            _set(
                norm,
                norm.bias.clone(),
                said.mean((0, 2, 3)),
                said.std((0, 2, 3), correction=0).clamp(min=1e-3),
            )


def _set(norm: nn.BatchNorm2d, bias: Tensor, mean: Tensor, spread: Tensor) -> None:
    """Let a normalisation by this mean and spread add `bias` and change nothing else."""
    norm.running_mean.copy_(mean)
    norm.running_var.copy_(spread**2 - norm.eps)
    norm.weight.copy_(spread)
    norm.bias.copy_(bias + mean)


def _layers(net: nn.Module) -> list[nn.Module]:
    """The layers with weights, kind by kind."""
    return [layer for kind in KINDS for layer in net.modules() if isinstance(layer, kind)]


def _weights(path: Path) -> list[tuple[Tensor, Tensor]]:
    """Weight and bias of each of the layers in an ONNX file, as `_layers` has them."""
    import onnx

    graph = onnx.load(str(path)).graph
    held = {
        one.name: torch.from_numpy(onnx.numpy_helper.to_array(one).copy())
        for one in graph.initializer
    }
    for node in graph.node:
        if node.op_type == "DequantizeLinear" and node.input[0] in held:
            held[node.output[0]] = _out_of_bytes(*(held[name] for name in node.input))
    nodes = [node for kind in KINDS.values() for node in graph.node if node.op_type == kind]
    return [(held[node.input[1]], held[node.input[2]]) for node in nodes]


def _out_of_bytes(counts: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    """Numbers that a file holds as counts of a scale: one for all, or one a row."""
    over = (-1, *[1] * (counts.ndim - 1))
    return (counts.float() - zero.float().reshape(over)) * scale.reshape(over)


def _split_first(
    stored: list[tuple[Tensor, Tensor]], layers: list[nn.Module]
) -> list[tuple[Tensor, Tensor]]:
    """The same with the first layer in two, where the network has one for colours and one for what comes aside."""
    (weight, bias), rest = stored[0], stored[1:]
    colours = layers[0].weight.shape[1]
    if len(stored) == len(layers) or weight.shape[1] <= colours:
        return stored
    return [(weight[:, :colours], bias), (weight[:, colours:], bias), *rest]


def _norms(net: nn.Module) -> dict[nn.Conv2d, nn.BatchNorm2d]:
    """The normalisation right behind each convolution that has one."""
    groups = [list(group) for group in net.modules() if isinstance(group, nn.Sequential)]
    pairs = [pair for group in groups for pair in pairwise(group)]
    pairs += [(one.colours, one.start[0]) for one in net.modules() if isinstance(one, Lite)]
    return {a: b for a, b in pairs if isinstance(a, nn.Conv2d) and isinstance(b, nn.BatchNorm2d)}


def _heard(
    net: nn.Module, norms: list[nn.BatchNorm2d], pictures: Tensor
) -> dict[nn.BatchNorm2d, Tensor]:
    """What each normalisation hears of the pictures."""
    heard: dict[nn.BatchNorm2d, Tensor] = {}
    hooks = [
        norm.register_forward_pre_hook(lambda one, given: heard.update({one: given[0]}))
        for norm in norms
    ]
    net.eval()
    with torch.inference_mode():
        net(pictures)
    for hook in hooks:
        hook.remove()
    return {norm: given.clone() for norm, given in heard.items()}
