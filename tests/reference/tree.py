"""A kinematic tree as the algorithms want it (RBDA section 4.1), read from a `mbros_core.spec.ModelSpec`."""
import numpy as np

from .joints import KINDS
from .scalars import vector, zeros
from .spatial import compose, motion_transform, spatial_inertia


class Tree:
    """Constants of a tree of bodies 1..nb-1 above the world (0), parent(i) < i.

    Every moving body has coordinates of its own in the algorithms. A body whose joint follows another joint ("mimic",
    q_i = ratio q_leader + offset) takes them from its leader: this is the loop-free case of RBDA section 3.2, an
    explicit constraint v_tree = G v, handled once for all algorithms by `expand` and `project`.
    """

    def __init__(self, spec):
        self.spec = spec
        self.nb = len(spec.parent)
        self.parent = [int(p) for p in spec.parent]
        self.kind = [KINDS[k](p) for k, p in zip(spec.joint_kind, spec.joint_parameters)]
        self.leader = [int(j) for j in spec.leader]
        self.gravity = np.array(spec.gravity, dtype=float)
        self.X_PF = [(x[:9].reshape(3, 3), x[9:]) for x in np.asarray(spec.X_PF, dtype=float)]
        self.inertia = [spatial_inertia(ten) for ten in spec.inertia]
        self.rotor_inertia = np.asarray(spec.rotor_inertia, dtype=float)
        self._number_coordinates()

    def _number_coordinates(self):
        self.nq = self.nv = self.nv_tree = 0
        self.q_start, self.v_start, self.tree_v = [], [], []
        for i in range(self.nb):
            kind, own = self.kind[i], self.leader[i] < 0
            self.q_start.append(self.nq if own else None)
            self.v_start.append(self.nv if own else None)
            self.tree_v.append(slice(self.nv_tree, self.nv_tree + kind.nv))
            self.nv_tree += kind.nv
            if own:
                self.nq, self.nv = self.nq + kind.nq, self.nv + kind.nv
        # v_tree = G v
        self.G = zeros(self.nv_tree, self.nv).astype(float)
        for i in range(self.nb):
            source, factor = (i, 1.0) if self.leader[i] < 0 else (self.leader[i], float(self.spec.ratio[i]))
            for k in range(self.kind[i].nv):
                self.G[self.tree_v[i].start + k, self.v_start[source] + k] = factor

    @property
    def moving(self):
        """Indices of the bodies that can move: those with some joint between them and the world that is no weld."""
        moves = [False] * self.nb
        for i in self.parents_first():
            moves[i] = self.kind[i].nv > 0 or moves[self.parent[i]]
        return [i for i in self.parents_first() if moves[i]]

    @property
    def has_followers(self):
        return any(leader >= 0 for leader in self.leader)

    def joint_q(self, i, q):
        """The position coordinates of joint i."""
        kind, leader = self.kind[i], self.leader[i]
        if leader < 0:
            return q[self.q_start[i]:self.q_start[i] + kind.nq]
        return vector([self.spec.ratio[i] * q[self.q_start[leader]] + self.spec.offset[i]])

    def expand(self, v):
        """Velocities (or accelerations) of all joints of the tree: G v."""
        return self.G @ v if self.has_followers else v

    def project(self, tau_tree):
        """Generalised forces (or columns of them) on the coordinates: G^T tau."""
        return self.G.T @ tau_tree if self.has_followers else tau_tree

    def joint_transforms(self, q):
        """For each body: X_PB = X_PF X_FM(q), and the 6x6 matrix ^B X_P."""
        poses = [None]
        for i in range(1, self.nb):
            poses.append(compose(self.X_PF[i], self.kind[i].pose(self.joint_q(i, q))))
        return poses, [None] + [motion_transform(X) for X in poses[1:]]

    def children_first(self):
        return range(self.nb - 1, 0, -1)

    def parents_first(self):
        return range(1, self.nb)
