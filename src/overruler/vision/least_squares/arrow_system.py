"""Normal equations of the shape of an arrow: shared parameters, and a few own ones of each group.

Groups meet in the shared parameters only. Their own ones are eliminated by the Schur complement, so
time and memory grow with the number of groups and not with its cube.
"""

from typing import NamedTuple

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.least_squares.schur_solver import invert_information
from overruler.vision.least_squares.whitened_groups import Products


class ArrowSystem(NamedTuple):
    """Normal equations over S shared parameters and O own ones of each of G groups."""

    shared: Array
    """(S, S): information of the shared parameters."""
    cross: Array
    """(G, S, O): information between the shared and a group's own parameters."""
    own: Array
    """(G, O, O): information of a group's own parameters."""
    shared_gradient: Array
    """(S,): gradient by the shared parameters."""
    own_gradient: Array
    """(G, O): gradient by a group's own parameters."""

    @classmethod
    def empty(cls, shared: int, groups: int, own: int) -> "ArrowSystem":
        """All blocks zero. `observe` adds to them in place."""
        return cls(
            np.zeros((shared, shared)),
            np.zeros((groups, shared, own)),
            np.zeros((groups, own, own)),
            np.zeros(shared),
            np.zeros((groups, own)),
        )

    @classmethod
    def unit(cls, shared: int, groups: int, own: int) -> "ArrowSystem":
        """Unit information and zero gradient."""
        system = cls.empty(shared, groups, own)
        system.shared[...], system.own[...] = np.eye(shared), np.eye(own)
        return system

    def observe(self, products: Products) -> None:
        """Add what groups say of the S shared parameters and, behind them, of O own ones.

        The last G have the own parameters, in their order; those before them have none.
        """
        count, rest = len(self.shared), len(products.squares) - len(self.own)
        self.shared[...] += products.information[:, :count, :count].sum(0)
        self.shared_gradient[...] += products.gradient[:, :count].sum(0)
        if not len(self.own):
            return
        own = products.information[rest:]
        self.cross[...] += own[:, :count, count:]
        self.own[...] += own[:, count:, count:]
        self.own_gradient[...] += products.gradient[rest:, count:]

    def without(self, group: int | None, shared: Array, residual: Array) -> "ArrowSystem":
        """The system without these whitened residuals (K,), all that there are of the group."""
        others = self._replace(
            shared=self.shared - shared.T @ shared,
            shared_gradient=self.shared_gradient - shared.T @ residual,
        )
        if group is None:
            return others
        cross, own, own_gradient = (array.copy() for array in (self.cross, self.own, self.own_gradient))  # fmt: skip
        cross[group], own[group], own_gradient[group] = 0.0, 0.0, 0.0
        return others._replace(cross=cross, own=own, own_gradient=own_gradient)

    def with_prior(self, information: Array, gradient: Array) -> "ArrowSystem":
        """Add a prior of the shared parameters."""
        return self._replace(
            shared=self.shared + information, shared_gradient=self.shared_gradient + gradient
        )

    @property
    def gradient(self) -> Array:
        """(S + G O,): the gradient by all parameters."""
        return np.concatenate([self.shared_gradient, self.own_gradient.ravel()])

    def reduced(self) -> Array:
        """(S, S): information of the shared parameters, the own ones eliminated."""
        gain = np.linalg.solve(self.own, self.cross.swapaxes(1, 2))
        return np.asarray(self.shared - (self.cross @ gain).sum(0))

    def shared_covariance(self) -> Array:
        """(S, S): covariance of the shared parameters."""
        return invert_information(self.reduced())

    def log_volume(self) -> float:
        """Logarithm of the determinant of all information."""
        own = np.linalg.slogdet(self.own)[1].sum()
        return float(np.linalg.slogdet(self.reduced())[1] + own)

    def damped_step(self, damping: float, usual: "ArrowSystem") -> Array:
        """The Newton step (S + G O,), damped by a share of each parameter's `usual` information."""
        usual_own = np.diagonal(usual.own, axis1=1, axis2=2)
        own = self.own + damping * usual_own[:, :, None] * np.eye(usual_own.shape[1])
        right = np.concatenate([self.cross.swapaxes(1, 2), self.own_gradient[..., None]], -1)
        gain = np.linalg.solve(own, right)
        eliminated = (self.cross @ gain).sum(0)
        scale = np.sqrt(np.diag(usual.shared))
        reduced = (self.shared - eliminated[:, :-1]) / np.outer(scale, scale)
        gradient = (self.shared_gradient - eliminated[:, -1]) / scale
        step = -np.linalg.solve(reduced + damping * np.eye(len(scale)), gradient) / scale
        own_step = -(gain[..., -1] + gain[..., :-1] @ step)
        return np.concatenate([step, own_step.ravel()])

    def expected_decrease(self, step: Array, damping: float) -> float:
        """By how much a `damped_step` of this system lowers the cost, if residuals are linear."""
        own = np.diagonal(self.own, axis1=1, axis2=2)
        scale = np.concatenate([np.diag(self.shared), own.ravel()])
        return float(damping * (step * step) @ scale - self.gradient @ step)


class NormalEquations(NamedTuple):
    """The normal equations about a state."""

    cost: float
    """Chi square of the residuals and the prior; infinite for an impossible state."""
    system: ArrowSystem
    """Of a photo, shared: camera, edge shift, marker growth, bow. Own: the place (x, y, heading) of each free
    marker but the first."""
