"""A layout that fits a canvas: the same layers, but downwards or to the right, folded where a chain is too long.

Tried from the largest scale on, at each scale: arcs downwards, arcs to the right, and both folded, as a text is folded
into lines. A fold stands where few arcs pass, and these go back along the gutter like a carriage return. Connected
parts are packed in rows. The first arrangement that fits the canvas is taken, so the texts are as large as can be.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from arbornet.show.draw.layout import (
    NODE_GAP,
    NODE_HEIGHT,
    PART_GAP,
    Laid,
    Layout,
    connected,
    curve,
    layered_part,
    placed,
)
from arbornet.show.draw.scene import Point

LARGEST, SMALLEST, STEP = 1.25, 0.03, 0.94
ENOUGH = 0.9
"""At this scale and above a picture in one piece is preferred to a folded one."""
MOST_OVER = 6
"""No fold where more arcs than this pass."""
SHORTEST = 0.4
"""No fold that leaves a band shorter than this share of the longest: arcs that go back would be for little."""
MANY = 150
"""Networks with more nodes are laid out with one limit only: it takes long."""
CHANNEL, LANE = 13.0, 8.0
ROUND = 9.0
DOWN_GAPS = (18.0, 38.0, -8.0)
"""Between nodes, between layers, and what a bend takes."""
RIGHT_GAPS = (14.0, 42.0, -5.0)

Room = tuple[float, float]


def arranged(
    widths: Mapping[str, float], arcs: Sequence[tuple[str, str]], room: Room, most: int | None = None
) -> Layout:
    """Lays out an acyclic graph as large as a canvas permits.

    Args:
        widths: The width of each node, in the order in which ties are settled.
        arcs: Pairs (parent, child).
        room: Width and height of the canvas in pixels.
        most: No layer holds more nodes than this; if left out, about as many as make a square.
    """
    parts = connected(list(widths), arcs)
    alone = [part[0] for part in parts if len(part) == 1]
    inside = [[arc for arc in arcs if arc[0] in members] for members in map(set, parts)]
    tied = [(part, own) for part, own in zip(parts, inside, strict=True) if len(part) > 1]
    tied.sort(key=lambda part: -len(part[0]))
    flows = []
    for limit in _limits(max((len(p) for p, _ in tied), default=0), room, most):
        layers = [layered_part(p, own, limit or max(6, math.ceil(1.7 * math.sqrt(len(p))))) for p, own in tied]
        for turned, gaps in ((False, DOWN_GAPS), (True, RIGHT_GAPS)):
            laid = []
            for part in layers:
                wide, high = [widths[name] for name in part.names], [NODE_HEIGHT] * len(part.names)
                laid.append(placed(part, *((high, wide) if turned else (wide, high)), *gaps))
            every = [(each, _over(each), own) for each, (_, own) in zip(laid, tied, strict=True)]
            flows.append((turned, every))
    for least, folds in ((ENOUGH, (False,)), (SMALLEST, (False, True))):
        scale = LARGEST
        while scale >= least:
            width, height = room[0] / scale, room[1] / scale
            for fold, (turned, every) in itertools.product(folds, flows):
                along = width if turned else height
                blocks = [
                    _Block(laid, _cuts(laid, over, along) if fold else (0,), over, turned, own)
                    for laid, over, own in every
                ]
                corners, lone, size = _packed([block.size for block in blocks], alone, widths, width)
                if size[0] <= width and size[1] <= height:
                    return _together(blocks, corners, lone, size)
            scale *= STEP
    blocks = [_Block(laid, (0,), over, False, own) for laid, over, own in flows[0][1]]
    return _together(blocks, *_packed([block.size for block in blocks], alone, widths, math.inf))


def _limits(n: int, room: Room, most: int | None) -> list[int | None]:
    """How many nodes a layer may hold: about as many as make a square, and as many as stand legibly in a column."""
    if most is not None or n > MANY:
        return [most]
    return [None, max(6, int(room[1] / ENOUGH / (NODE_HEIGHT + RIGHT_GAPS[0])))]


def _over(laid: Laid) -> tuple[tuple[int, ...], ...]:
    """For every layer but the last, the arcs that pass from it to the next."""
    at = {v: i for i, layer in enumerate(laid.part.layers) for v in layer}
    out: list[list[int]] = [[] for _ in laid.layers[1:]]
    for i, chain in enumerate(laid.part.chains):
        for v in chain[:-1]:
            out[at[v]].append(i)
    return tuple(map(tuple, out))


def _cuts(laid: Laid, passing: Sequence[Sequence[int]], along: float) -> tuple[int, ...]:
    """The first layers of the bands into which a part is folded, the bands about equally long."""
    over = [len(arcs) for arcs in passing]
    cuts = _greedy(laid.layers, over, along)
    low, high = along / 2, along
    for _ in range(6):
        middle = (low + high) / 2
        tried = _greedy(laid.layers, over, middle)
        if len(tried) == len(cuts):
            cuts, high = tried, middle
        else:
            low = middle
    ends = [laid.layers[cut - 1][1] for cut in cuts[1:]] + [laid.layers[-1][1]]
    lengths = [end - laid.layers[cut][0] for cut, end in zip(cuts, ends, strict=True)]
    return cuts if min(lengths) >= SHORTEST * max(lengths) else (0,)


def _greedy(layers: Sequence[tuple[float, float]], over: Sequence[int], along: float) -> tuple[int, ...]:
    cuts = [0]
    while True:
        first = cuts[-1]
        top = layers[first][0] - (_margin(over[first - 1]) if first else 0.0)
        if layers[-1][1] - top <= along:
            return tuple(cuts)
        fits = [i for i in range(first, len(layers) - 1) if layers[i][1] + _margin(over[i]) - top <= along]
        late = [i for i in fits if layers[i][1] - top >= 0.55 * along and over[i] <= MOST_OVER] or [
            i for i in fits if over[i] <= MOST_OVER
        ]
        if not late:
            return tuple(cuts)
        cuts.append(min(late, key=lambda i: (over[i], -i)) + 1)


def _margin(n: int) -> float:
    """The room that so many arcs need between the end of a band and the edge."""
    return 2 * CHANNEL + (n - 1) * LANE


@dataclass(frozen=True)
class _Band:
    """Some layers of a part: what it is moved by, and its edges where it then stands."""

    shift: Point
    right: float
    top: float
    bottom: float


@dataclass(frozen=True)
class _Block:
    """A part in bands side by side (one below the other if turned), its places counted from its own corner."""

    laid: Laid
    cuts: tuple[int, ...]
    over: tuple[tuple[int, ...], ...]
    turned: bool
    arcs: Sequence[tuple[str, str]]

    @cached_property
    def bands(self) -> tuple[_Band, ...]:
        """The bands in their order."""
        laid, out, left = self.laid, [], 0.0
        above = max((_margin(len(self.over[cut - 1])) for cut in self.cuts[1:]), default=0.0)
        for first, end in itertools.pairwise((*self.cuts, len(laid.layers))):
            members = [v for layer in laid.part.layers[first:end] for v in layer]
            low = min(laid.centres[v][0] - laid.sizes[v][0] / 2 for v in members)
            high = max(laid.centres[v][0] + laid.sizes[v][0] / 2 for v in members)
            down = above - laid.layers[first][0]
            right = left + high - low
            out.append(_Band((left - low, down), right, above, laid.layers[end - 1][1] + down))
            left = right + (_margin(len(self.over[end - 1])) if end < len(laid.layers) else 0.0)
        return tuple(out)

    @cached_property
    def size(self) -> Point:
        """Width and height."""
        ends = [_margin(len(self.over[cut - 1])) - CHANNEL + 2 for cut in self.cuts[1:]]
        length = max(band.bottom + end for band, end in zip(self.bands, [*ends, 0.0], strict=True))
        return self._turn((self.bands[-1].right, length))

    def _turn(self, point: Point) -> Point:
        return (point[1], point[0]) if self.turned else point

    def _moved(self, point: Point, band: int) -> Point:
        dx, dy = self.bands[band].shift
        return point[0] + dx, point[1] + dy

    def made(self) -> tuple[dict[str, Point], dict[tuple[str, str], tuple[Point, ...]]]:
        """The centres of the nodes and the routes of the arcs."""
        layers = self.laid.part.layers
        band_of = {v: bisect_right(self.cuts, i) - 1 for i, layer in enumerate(layers) for v in layer}
        centres = {
            name: self._turn(self._moved(self.laid.centres[v], band_of[v]))
            for v, name in enumerate(self.laid.part.names)
        }
        routes = {}
        for i, arc in enumerate(self.arcs):
            chain = self.laid.part.chains[i]
            if band_of[chain[0]] == band_of[chain[-1]]:
                route = curve([self._moved(point, band_of[chain[0]]) for point in self.laid.points(i)])
            else:
                route = self._folded(i, [band_of[v] for v in chain])
            routes[arc] = tuple(map(self._turn, route))
        return centres, routes

    def _folded(self, arc: int, bands: Sequence[int]) -> tuple[Point, ...]:
        """The route of an arc over folds: curves within the bands, straight lines with round corners between."""
        laid = self.laid
        chain = laid.part.chains[arc]
        start = (laid.ends[arc][0], laid.centres[chain[0]][1] + laid.sizes[chain[0]][1] / 2)
        end = (laid.ends[arc][1], laid.centres[chain[-1]][1] - laid.sizes[chain[-1]][1] / 2)
        stops = [start, *(laid.centres[v] for v in chain[1:-1]), end]
        stops = [self._moved(stop, band) for stop, band in zip(stops, bands, strict=True)]
        out: list[Point] = []
        run = stops[:1]
        for stop, (here, there) in zip(stops[1:], itertools.pairwise(bands), strict=True):
            if here == there:
                run.append(stop)
                continue
            lane = LANE * self.over[self.cuts[there] - 1].index(arc)
            if len(run) > 1:
                out = _joined(out, curve(run))
            x, y = run[-1]
            turn = self.bands[here].bottom + CHANNEL + lane
            gutter = self.bands[here].right + CHANNEL + lane
            back = self.bands[there].top - CHANNEL - lane
            out = _joined(out, rounded([(x, y), (x, turn), (gutter, turn), (gutter, back), (stop[0], back), stop]))
            run = [stop]
        return tuple(_joined(out, curve(run)) if len(run) > 1 else out)


def _joined(route: list[Point], more: Sequence[Point]) -> list[Point]:
    return [*route, *more[1:]] if route else list(more)


def rounded(corners: Sequence[Point]) -> tuple[Point, ...]:
    """Straight lines through the corners, each corner round, as pieces of a curve."""
    out = [corners[0]]

    def line(end: Point) -> None:
        (x, y), (u, v) = out[-1], end
        out.extend(((x + (u - x) / 3, y + (v - y) / 3), (x + 2 * (u - x) / 3, y + 2 * (v - y) / 3), end))

    for before, corner, after in zip(corners[:-2], corners[1:-1], corners[2:], strict=True):
        into, off = math.dist(before, corner), math.dist(corner, after)
        cut = min(ROUND, into / 2, off / 2)
        if cut < 0.5:
            continue
        near = _towards(corner, before, cut)
        line(near)
        far = _towards(corner, after, cut)
        out.extend((_towards(near, corner, cut * 0.55), _towards(far, corner, cut * 0.55), far))
    line(corners[-1])
    return tuple(out)


def _towards(start: Point, end: Point, length: float) -> Point:
    distance = math.dist(start, end) or 1.0
    return start[0] + (end[0] - start[0]) * length / distance, start[1] + (end[1] - start[1]) * length / distance


def _packed(
    sizes: Sequence[Point], alone: Sequence[str], widths: Mapping[str, float], width: float
) -> tuple[list[Point], dict[str, Point], Point]:
    """Blocks in rows no wider than `width` where that can be, the highest first, lone nodes in rows below.

    Returns:
        The corner of each block, the centre of each lone node, and the size of all.
    """
    corners: list[Point] = [(0.0, 0.0)] * len(sizes)
    x = y = row = right = 0.0
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i][1]):
        if x and x + sizes[i][0] > width:
            x, y, row = 0.0, y + row + PART_GAP, 0.0
        corners[i] = (x, y)
        right, row = max(right, x + sizes[i][0]), max(row, sizes[i][1])
        x += sizes[i][0] + PART_GAP
    bottom = y + row
    lone: dict[str, Point] = {}
    if alone:
        total = math.fsum(widths[name] + NODE_GAP for name in alone)
        widest = max(widths[name] for name in alone)
        line = max(widest, min(width, max(right, math.sqrt(total * 4 * NODE_HEIGHT))))
        x, y = 0.0, bottom + (PART_GAP * 0.75 if bottom else 0.0)
        for name in alone:
            if x and x + widths[name] > line:
                x, y = 0.0, y + NODE_HEIGHT + NODE_GAP * 0.6
            lone[name] = (x + widths[name] / 2, y + NODE_HEIGHT / 2)
            x += widths[name] + NODE_GAP
            right = max(right, x - NODE_GAP)
        bottom = y + NODE_HEIGHT
    return corners, lone, (right, bottom)


def _together(blocks: Sequence[_Block], corners: Sequence[Point], lone: Mapping[str, Point], size: Point) -> Layout:
    centres = dict(lone)
    routes: dict[tuple[str, str], tuple[Point, ...]] = {}
    for block, (dx, dy) in zip(blocks, corners, strict=True):
        places, ways = block.made()
        centres |= {name: (x + dx, y + dy) for name, (x, y) in places.items()}
        routes |= {arc: tuple((x + dx, y + dy) for x, y in way) for arc, way in ways.items()}
    return Layout(*size, centres, routes)
