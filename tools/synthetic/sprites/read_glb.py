"""Reads a rigged figure out of a binary glTF 2.0 file, in a pose of one of its animations."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from synthetic.arrays import Array
from synthetic.painted.wardrobe import PARTS
from synthetic.sprites.shapes import Shape, clusters

_KINDS = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_UPRIGHT = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
"""From glTF's y upwards to z upwards."""
_JSON_AT = 20
"""Where the description starts in the file."""


@dataclass
class Rig:
    """A figure with its bones, its poses and its texture."""

    path: Path

    @cached_property
    def _data(self) -> bytes:
        return self.path.read_bytes()

    @cached_property
    def _json_bytes(self) -> int:
        return int.from_bytes(self._data[12:16], "little")

    @cached_property
    def _about(self) -> dict[str, Any]:
        return json.loads(self._data[_JSON_AT : _JSON_AT + self._json_bytes])  # type: ignore[no-any-return]

    def _bytes_at(self, view: int) -> bytes:
        entry, start = self._about["bufferViews"][view], _JSON_AT + self._json_bytes + 8
        start += entry.get("byteOffset", 0)
        return self._data[start : start + entry["byteLength"]]

    def _array(self, accessor: int) -> Array:
        entry = self._about["accessors"][accessor]
        width = _WIDTHS[entry["type"]]
        data = self._bytes_at(entry["bufferView"])[entry.get("byteOffset", 0) :]
        flat = np.frombuffer(data, _KINDS[entry["componentType"]], entry["count"] * width)
        return np.asarray(flat.reshape(-1, width), float)

    @cached_property
    def poses(self) -> list[str]:
        """The names of its animations."""
        return [one["name"] for one in self._about["animations"]]

    def node_names(self, bone: str) -> list[str]:
        """What hangs on a bone: weapons in a hand."""
        nodes = self._about["nodes"]
        parent = next(one for one in nodes if one.get("name") == bone)
        return [nodes[k]["name"] for k in parent.get("children", [])]

    def posed(self, pose: str, moment: float, left_out: set[str], head: float) -> Shape:
        """The figure at a moment (0 to 1) of an animation, without the nodes of some names.

        Its head has the share `head` of its size.
        """
        places = self._places(pose, moment, head)
        triangles, colours = [], []
        for k, node in enumerate(self._about["nodes"]):
            if "mesh" in node and node.get("name") not in left_out:
                for part in self._about["meshes"][node["mesh"]]["primitives"]:
                    points = self._skinned(part["attributes"], node, places, k)
                    corners = self._array(part["indices"]).astype(int).reshape(-1, 3)
                    triangles.append(points[corners])
                    uv = self._array(part["attributes"]["TEXCOORD_0"])[corners].mean(1)
                    colours.append(self._colours(uv))
        parts = clusters(np.concatenate(colours), PARTS, np.random.default_rng(len(pose)))
        return Shape(np.concatenate(triangles) @ _UPRIGHT.T, parts)

    def _colours(self, uv: Array) -> Array:
        """The texture's colours (N, 3) at places (N, 2), 0 to 1."""
        height, width = self._texture.shape[:2]
        x, y = (uv * [width, height]).astype(int).T
        return np.asarray(self._texture[y.clip(0, height - 1), x.clip(0, width - 1)] / 255)

    @cached_property
    def _texture(self) -> Array:
        data = self._bytes_at(self._about["images"][0]["bufferView"])
        return np.asarray(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR), float)

    def _skinned(self, parts: dict[str, int], node: dict[str, Any], places: Array, k: int) -> Array:
        points = self._array(parts["POSITION"])
        points = np.column_stack([points, np.ones(len(points))])
        if "skin" not in node:
            return np.asarray((points @ places[k].T)[:, :3])
        skin = self._about["skins"][node["skin"]]
        inverse = self._array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
        bones = places[skin["joints"]] @ inverse
        which, weights = self._array(parts["JOINTS_0"]).astype(int), self._array(parts["WEIGHTS_0"])
        moved = np.einsum("nkij,nj->nki", bones[which], points)
        return np.asarray(np.einsum("nk,nki->ni", weights, moved)[:, :3])

    def _places(self, pose: str, moment: float, head: float) -> Array:
        """Where each node is (N, 4, 4)."""
        nodes = self._about["nodes"]
        moved = [dict(node) for node in nodes]
        animation = next(one for one in self._about["animations"] if one["name"] == pose)
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            values = self._array(sampler["output"])
            at = min(int(moment * len(values)), len(values) - 1)
            moved[channel["target"]["node"]][channel["target"]["path"]] = values[at]
        for one in moved:
            if one.get("name") == "head":
                one["scale"] = head * np.asarray(one.get("scale", (1, 1, 1)), float)
        places = np.tile(np.eye(4), (len(nodes), 1, 1))
        below = {child for node in nodes for child in node.get("children", [])}

        def place(k: int, above: Array) -> None:
            places[k] = above @ _local(moved[k])
            for child in nodes[k].get("children", []):
                place(child, places[k])

        for k in range(len(nodes)):
            if k not in below:
                place(k, np.eye(4))
        return places


def _local(node: dict[str, Any]) -> Array:
    """A node's place in its parent (4, 4)."""
    x, y, z, w = np.asarray(node.get("rotation", (0, 0, 0, 1)), float)
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrix = np.eye(4)
    matrix[:3, :3] = turn * np.asarray(node.get("scale", (1, 1, 1)), float)
    matrix[:3, 3] = node.get("translation", (0, 0, 0))
    return matrix
