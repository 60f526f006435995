// Quickhull (Barber, Dobkin and Huhdanpaa 1996): the triangles of the convex hull of points, counter-clockwise seen from outside.
//
// A point is outside of a triangle where it is more than `slack` above its plane. The farthest one of a triangle is taken in: the triangles
// that it sees go, and their rim is joined to it. Where rounding makes this rim touch itself, what is between goes, too.
#pragma once

#include <cmath>
#include <vector>

namespace mbros_geometry {

class Quickhull {
public:
    // most: how often a point is held against a plane at most; what is left then is not taken in, and spent() says so.
    Quickhull(const double* points, int count, const int* first, double slack, long long most)
        : points_(points), slack_(slack), left_(most), starts_(count, -1) {
        const int a = first[0], b = first[1], c = first[2], d = first[3];
        const int corners[4][3] = {{a, b, c}, {a, d, b}, {b, d, c}, {c, d, a}};
        std::vector<int> rest;
        for (int i = 0; i < count; i++)
            if (i != a && i != b && i != c && i != d) rest.push_back(i);
        for (const auto& v : corners) add(v[0], v[1], v[2]);
        hand_out(rest, 0);
        for (int f = 0; f < 4; f++)
            for (int k = 0; k < 3; k++)
                for (int g = 0; g < 4; g++)
                    if (edge_of(g, faces_[f].v[(k + 1) % 3], faces_[f].v[k]) >= 0) faces_[f].beside[k] = g;
        waiting_ = {0, 1, 2, 3};
        for (long rounds = 20L * count; rounds > 0 && left_ > 0 && !waiting_.empty(); rounds--) {
            const int f = waiting_.back();
            waiting_.pop_back();
            if (faces_[f].alive && !faces_[f].outside.empty()) take_in(f);
        }
    }

    bool spent() const { return left_ <= 0; }

    std::vector<int> triangles() const {
        std::vector<int> out;
        for (const Face& f : faces_)
            if (f.alive) out.insert(out.end(), f.v, f.v + 3);
        return out;
    }

private:
    struct Face {
        int v[3];
        int beside[3];                   // the face across the edge from v[k] to the next
        double n[3];
        double offset;
        bool alive = true;
        int seen = -1;                   // by the point that was taken in last
        std::vector<int> outside;        // points that it sees
    };
    struct Edge {
        int from, to, beyond;
    };

    double above(const Face& f, int i) const {
        const double* p = points_ + 3 * i;
        return f.n[0] * p[0] + f.n[1] * p[1] + f.n[2] * p[2] - f.offset;
    }

    int edge_of(int f, int from, int to) const {
        for (int k = 0; k < 3; k++)
            if (faces_[f].v[k] == from && faces_[f].v[(k + 1) % 3] == to) return k;
        return -1;
    }

    int add(int a, int b, int c) {
        const double *p = points_ + 3 * a, *q = points_ + 3 * b, *r = points_ + 3 * c;
        const double x[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]}, y[3] = {r[0] - p[0], r[1] - p[1], r[2] - p[2]};
        Face f;
        f.v[0] = a, f.v[1] = b, f.v[2] = c;
        f.beside[0] = f.beside[1] = f.beside[2] = -1;
        for (int k = 0; k < 3; k++) f.n[k] = x[(k + 1) % 3] * y[(k + 2) % 3] - x[(k + 2) % 3] * y[(k + 1) % 3];
        const double length = std::sqrt(f.n[0] * f.n[0] + f.n[1] * f.n[1] + f.n[2] * f.n[2]);
        if (length > 0.0)
            for (double& n : f.n) n /= length;
        f.offset = f.n[0] * p[0] + f.n[1] * p[1] + f.n[2] * p[2];
        faces_.push_back(std::move(f));
        return static_cast<int>(faces_.size()) - 1;
    }

    // Each point to the one of the faces from `first` on that it is farthest above; what is above none of them, to any other. Of two faces in
    // one plane but for rounding, it could be lost with one although it is far above what is beside the other.
    void hand_out(const std::vector<int>& candidates, size_t first) {
        for (int i : candidates) {
            if (left_ <= 0) return;
            int best = highest(i, first, faces_.size());
            if (best < 0 && (best = highest(i, 0, first)) >= 0) waiting_.push_back(best);
            if (best >= 0) faces_[best].outside.push_back(i);
        }
    }

    int highest(int i, size_t from, size_t to) {
        left_ -= static_cast<long long>(to - from);
        int best = -1;
        double most = slack_;
        for (size_t f = from; f < to; f++) {
            if (!faces_[f].alive) continue;
            const double height = above(faces_[f], i);
            if (height > most) most = height, best = static_cast<int>(f);
        }
        return best;
    }

    void see(int f, int p) {
        faces_[f].seen = p;
        seen_.push_back(f);
    }

    // The edges between what p sees and what it does not; false where they are not one simple loop, and what is beyond one of them is then
    // seen.
    bool rim_of(int p, std::vector<Edge>& rim) {
        rim.clear();
        for (int f : seen_)
            for (int k = 0; k < 3; k++) {
                const int there = faces_[f].beside[k];
                if (faces_[there].seen != p) rim.push_back({faces_[f].v[k], faces_[f].v[(k + 1) % 3], there});
            }
        int wrong = -1;
        const size_t edges = rim.size();
        for (size_t k = 0; k < edges; k++) {
            if (starts_[rim[k].from] >= 0) wrong = rim[k].beyond;
            starts_[rim[k].from] = static_cast<int>(k);
        }
        if (wrong < 0 && edges > 0) {
            std::vector<char> walked(edges, 0);
            size_t count = 0;
            for (int k = 0; !walked[k]; k = starts_[rim[k].to]) walked[k] = 1, count++;
            for (size_t k = 0; count < edges && k < edges; k++)
                if (walked[k] == (2 * count < edges)) wrong = rim[k].beyond;
        }
        for (const Edge& e : rim) starts_[e.from] = -1;
        if (wrong >= 0) see(wrong, p);
        return wrong < 0;
    }

    void take_in(int f) {
        int p = faces_[f].outside[0];
        for (int i : faces_[f].outside)
            if (above(faces_[f], i) > above(faces_[f], p)) p = i;
        seen_.clear();
        see(f, p);
        left_ -= static_cast<long long>(faces_[f].outside.size());
        for (size_t at = 0; at < seen_.size(); at++)
            for (int k = 0; k < 3; k++) {
                const int there = faces_[seen_[at]].beside[k];
                if (faces_[there].seen != p && above(faces_[there], p) > slack_) see(there, p);
            }
        std::vector<Edge> rim;
        while (!rim_of(p, rim)) {}
        if (rim.size() < 3) {                                       // no such point but by rounding
            for (size_t k = 0; k < faces_[f].outside.size(); k++)
                if (faces_[f].outside[k] == p) faces_[f].outside.erase(faces_[f].outside.begin() + k);
            waiting_.push_back(f);
            return;
        }
        std::vector<int> left;
        for (const Edge& e : rim) starts_[e.from] = 0;
        for (int g : seen_) {
            for (int i : faces_[g].outside)
                if (i != p) left.push_back(i);
            for (int i : faces_[g].v)                               // a corner that goes is below what comes, but for rounding
                if (starts_[i] < 0) left.push_back(i);
            faces_[g].alive = false;
            std::vector<int>().swap(faces_[g].outside);
        }
        const size_t first = faces_.size();
        for (const Edge& e : rim) starts_[e.from] = add(e.from, e.to, p);
        hand_out(left, first);
        for (const Edge& e : rim) {
            const int g = starts_[e.from];
            faces_[g].beside[0] = e.beyond;
            faces_[e.beyond].beside[edge_of(e.beyond, e.to, e.from)] = g;
            faces_[g].beside[1] = starts_[e.to];
            faces_[starts_[e.to]].beside[2] = g;
            waiting_.push_back(g);
        }
        for (const Edge& e : rim) starts_[e.from] = -1;
    }

    const double* points_;
    double slack_;
    long long left_;
    std::vector<Face> faces_;
    std::vector<int> seen_;
    std::vector<int> waiting_;           // faces to look at
    std::vector<int> starts_;            // scratch, -1: of a point, the face whose first edge it begins
};

}  // namespace mbros_geometry
