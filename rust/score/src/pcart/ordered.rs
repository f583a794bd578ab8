//! Groups of levels in order: the search for families with more levels than can be divided in all ways.
//!
//! The levels of such a parent stand in an order made from the response in the training rows
//! ([`crate::tree::response::InOrder`]), and the search of [`crate::tree::optimal`] runs with their intervals instead of
//! their sets. Where that is still too dear, or does not fit a key, neighbours are merged, those that lose least first.
//! The tree found is one of the trees of the exact search, its groups are sets of levels, and its score under the
//! prior of the nominal parent is its exact score: a lower bound of the family's.
//!
//! Then the tree is made better. Each side of its split is searched with an order of its own, made from the side's rows.
//! And the levels are ordered anew by the tree: by how much more a level gains in the leaves that it reaches through the
//! right side than through the left one (to first order; scores of leaves are convex, so it gains at least that). This
//! is repeated until nothing is gained, or the steps that a family may cost are spent. Steps are counted and not timed,
//! and rows are taken in the order of their values, so nothing depends on the machine or on the order of the rows.

use super::Prepared;
use super::combinations::distinct;
use super::dear::{self, Extent};
use super::merging::Merging;
use crate::local::Groups;
use crate::table::{Kind, Var};
use crate::tree::key::{Field, Layout, Split, ones};
use crate::tree::memo::Ended;
use crate::tree::optimal::{Point, Search};
use crate::tree::response::{InOrder, Response, by_key, first_orders};
use crate::tree::trace::{Left, Trace, Traced};

/// Beyond its first search a family may cost so many times what one search may.
const REFINED: f64 = 1.0;
/// Searches of one cell after its first one.
const ROUNDS: usize = 8;
/// A tree must be better by this part to count as better.
const GAIN: f64 = 1e-9;

/// A score without Z, its tree, and what was searched by groups in order if that may have missed a better tree.
pub type Best<S> = (f64, Vec<Traced<S>>, Option<Vec<Groups>>);

/// A family before its search: its points, and ways to arrange its levels.
pub struct Arranged<S> {
    /// By point and parent: bin or code.
    pub codes: Vec<u16>,
    /// By point.
    pub sums: Vec<S>,
    /// At least one arrangement of every parent.
    pub orders: Vec<Vec<Arrangement>>,
    /// What is in order.
    pub groups: Option<Vec<Groups>>,
}

/// A parent before the search.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrangement {
    /// So many halvings.
    Number(u32),
    /// Groups of codes that may be divided in all ways.
    Sets(Vec<Vec<u16>>),
    /// Groups of codes in order.
    Runs(Vec<Vec<u16>>),
}

/// How one parent is searched in all of a family's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// By halvings.
    Number,
    /// Ordered levels.
    Ordinal,
    /// In all ways.
    Sets,
    /// By groups in order.
    InOrder,
}

/// The search of one family, whose parents are known by their positions.
pub struct Ordered<'a, R: Response> {
    search: &'a mut Search<R>,
    parents: &'a [Var],
    roles: Vec<Role>,
    log_gamma: f64,
    max_splits: u32,
    /// By point and parent: bin or code.
    codes: Vec<u16>,
    sums: Vec<R::Sum>,
    n_rows: usize,
    /// Steps of the search after which nothing is made better any more.
    enough: u64,
    merged: Vec<Groups>,
    /// Whether the first search may have missed a better tree.
    inexact: bool,
}

/// A part of the predictor space: the points in it, and its interval of each number.
#[derive(Clone)]
struct Cell {
    points: Vec<u32>,
    /// By parent: the first bin, and the halvings left.
    intervals: Vec<(u32, u32)>,
}

/// A tree over a cell.
#[derive(Clone)]
struct Grown<S> {
    score: f64,
    part: Part<S>,
}

#[derive(Clone)]
enum Part<S> {
    Leaf(S),
    Split { parent: usize, left: Left, sides: Box<[Grown<S>; 2]> },
}

/// One parent in one cell, as the search sees it.
struct Axis {
    parent: usize,
    split: Split,
    /// Halvings left, or groups.
    size: usize,
    /// Of a number, its first bin here.
    low: u32,
    /// By code, the place of its group.
    place: Vec<u8>,
}

const NOWHERE: u8 = u8::MAX;

/// The levels of one parent in a cell, in their order, and their groups.
struct Row<S> {
    parent: usize,
    codes: Vec<u16>,
    /// By group: where it begins among the codes, and the sum over it.
    groups: Vec<(usize, S)>,
}

impl<'a, R: InOrder> Ordered<'a, R> {
    /// `rows` gives each row's bin or code of a parent, rows in the order of their values.
    pub fn new(
        prepared: &Prepared,
        search: &'a mut Search<R>,
        parents: &'a [Var],
        in_order: &[bool],
        codes: &[Vec<u16>],
        values: &[R::Value],
        log_gamma: f64,
    ) -> Self {
        let role = |(&parent, &in_order): (&Var, &bool)| match prepared.table.variable(parent).kind {
            Kind::Continuous { .. } => Role::Number,
            Kind::Ordinal { .. } => Role::Ordinal,
            Kind::Categorical { .. } if in_order => Role::InOrder,
            Kind::Categorical { .. } => Role::Sets,
        };
        let roles = parents.iter().zip(in_order).map(role).collect();
        let (of_points, point_of) = distinct(parents, codes, values.len());
        search.response.prepare(log_gamma);
        let n_points = point_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut sums = vec![search.response.zero(); n_points];
        for (&point, &value) in point_of.iter().zip(values) {
            search.response.observe(&mut sums[point as usize], value);
        }
        let enough = search.steps();
        Self {
            search,
            parents,
            roles,
            log_gamma,
            max_splits: prepared.parameters.max_splits,
            codes: of_points,
            sums,
            n_rows: values.len(),
            enough,
            merged: Vec::new(),
            inexact: false,
        }
    }

    /// The best tree found: its score without Z, itself, and what was searched by groups in order, if anything was
    /// left out by it.
    ///
    /// # Errors
    /// If it was stopped, or needs too much memory.
    pub fn best(mut self) -> Result<Best<R::Sum>, Ended> {
        let mut all = self.search.response.zero();
        for sum in &self.sums {
            self.search.response.add(&mut all, sum);
        }
        let worth = self.search.response.worth(&all);
        if worth.split <= worth.leaf || self.sums.len() < 2 {
            // No division pays its prior, in whatever groups.
            return Ok((worth.leaf, vec![Traced::Leaf(all)], None));
        }
        let cell = self.whole();
        let extents = self.extents(&cell);
        self.enough +=
            (REFINED * dear::cap(dear::IN_ORDER, &extents, self.n_rows, self.search.response.width())) as u64;
        let orders = self.first_orders(&cell);
        let first = self.searched(&cell, &orders[0], true)?;
        let grown = if self.inexact { self.better(&cell, first, &orders)? } else { first };
        let mut trace = Trace::default();
        let score = grown.score;
        grown.trace(&mut trace);
        Ok((score, trace.finish(), self.inexact.then_some(self.merged)))
    }

    /// The points of the family, and its levels in groups: in several orders, if they are ordered.
    pub fn arranged(mut self) -> Arranged<R::Sum> {
        let cell = self.whole();
        let mut orders = Vec::new();
        for (i, order) in self.first_orders(&cell).iter().enumerate() {
            let rows = self.rows(&cell, order, i == 0);
            let of = |parent: usize| {
                if self.roles[parent] == Role::Number {
                    return Arrangement::Number(self.max_splits);
                }
                let row = rows.iter().find(|row| row.parent == parent).expect("every parent with levels has a row");
                let groups = row.groups().map(<[u16]>::to_vec).collect();
                if self.roles[parent] == Role::Sets { Arrangement::Sets(groups) } else { Arrangement::Runs(groups) }
            };
            orders.push((0..self.roles.len()).map(of).collect());
        }
        let groups = (!self.merged.is_empty()).then_some(self.merged);
        Arranged { codes: self.codes, sums: self.sums, orders, groups }
    }

    fn whole(&self) -> Cell {
        let interval = |role: &Role| if *role == Role::Number { (0, self.max_splits) } else { (0, 0) };
        let intervals = self.roles.iter().map(interval).collect();
        Cell { points: (0..self.sums.len() as u32).collect(), intervals }
    }

    fn code(&self, point: u32, parent: usize) -> u16 {
        self.codes[point as usize * self.parents.len() + parent]
    }

    /// How large each parent is in a cell.
    fn extents(&self, cell: &Cell) -> Vec<Extent> {
        let extent = |parent: usize| match self.roles[parent] {
            Role::Number => (Split::Halving, cell.intervals[parent].1 as usize),
            Role::Sets => (Split::Bipartition, self.levels(cell, parent).len()),
            Role::Ordinal | Role::InOrder => (Split::Threshold, self.levels(cell, parent).len()),
        };
        (0..self.roles.len()).map(extent).collect()
    }

    /// The codes of a parent that occur in a cell, ascending.
    fn levels(&self, cell: &Cell, parent: usize) -> Vec<u16> {
        let mut codes: Vec<u16> = cell.points.iter().map(|&point| self.code(point, parent)).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// What the points of each level of a parent add up to.
    fn by_level(&self, cell: &Cell, parent: usize, codes: &[u16]) -> Vec<R::Sum> {
        let mut sums = vec![self.search.response.zero(); codes.len()];
        for &point in &cell.points {
            let at = codes.partition_point(|&code| code < self.code(point, parent));
            self.search.response.add(&mut sums[at], &self.sums[point as usize]);
        }
        sums
    }

    fn in_order(&self) -> impl Iterator<Item = usize> + use<R> {
        let chosen: Vec<usize> = (0..self.roles.len()).filter(|&p| self.roles[p] == Role::InOrder).collect();
        chosen.into_iter()
    }

    /// Orders made from a cell's rows, by parent its codes (empty for those that are not ordered): several to begin with.
    fn first_orders(&self, cell: &Cell) -> Vec<Vec<Vec<u16>>> {
        let mut orders = vec![vec![Vec::new(); self.roles.len()]];
        for parent in self.in_order() {
            let codes = self.levels(cell, parent);
            let sums = self.by_level(cell, parent, &codes);
            let own = first_orders(&self.search.response, &sums);
            orders.resize(own.len(), orders[0].clone());
            for (orders, own) in orders.iter_mut().zip(own) {
                orders[parent] = own.into_iter().map(|at| codes[at]).collect();
            }
        }
        orders
    }

    /// Orders by a tree: where it splits a parent first, levels stand by what they gain in the right side more than in
    /// the left one; within what it never splits they keep their order.
    fn orders_along(&self, cell: &Cell, grown: &Grown<R::Sum>, before: &[Vec<u16>]) -> Vec<Vec<u16>> {
        let mut orders = before.to_vec();
        for parent in self.in_order() {
            let Some((cell, node)) = self.first_split(cell, grown, parent) else { continue };
            let Part::Split { sides, .. } = &node.part else { continue };
            let codes = self.levels(&cell, parent);
            let mut keys = vec![0.0; codes.len()];
            let mut rows = vec![0.0; codes.len()];
            let slopes = sides.each_ref().map(|side| self.slopes(side));
            for &point in &cell.points {
                let at = codes.partition_point(|&code| code < self.code(point, parent));
                let sum = &self.sums[point as usize];
                let gain = |side: usize| {
                    let mut next = 0;
                    let slope = self.slope_at(&sides[side], point, &slopes[side], &mut next);
                    self.search.response.along(slope, sum)
                };
                keys[at] += gain(1) - gain(0);
                rows[at] += R::n_rows(sum);
            }
            keys.iter_mut().zip(&rows).for_each(|(key, rows)| *key /= rows);
            let here: Vec<u16> = by_key(&keys).into_iter().map(|at| codes[at]).collect();
            // Levels that do not occur below this split stay where they were, after the others.
            let rest: Vec<u16> =
                before[parent].iter().copied().filter(|code| codes.binary_search(code).is_err()).collect();
            orders[parent] = [here, rest].concat();
        }
        orders
    }

    /// The slopes of a tree's leaves, in preorder.
    fn slopes(&self, grown: &Grown<R::Sum>) -> Vec<Vec<f64>> {
        match &grown.part {
            Part::Leaf(sum) => vec![self.search.response.slope(sum)],
            Part::Split { sides, .. } => sides.iter().flat_map(|side| self.slopes(side)).collect(),
        }
    }

    /// The slope of the leaf that a point would reach; `next` counts leaves.
    fn slope_at<'s>(&self, grown: &Grown<R::Sum>, point: u32, slopes: &'s [Vec<f64>], next: &mut usize) -> &'s [f64] {
        match &grown.part {
            Part::Leaf(_) => &slopes[*next],
            Part::Split { parent, left, sides } => {
                if goes_left(left, self.code(point, *parent)) {
                    return self.slope_at(&sides[0], point, slopes, next);
                }
                *next += sides[0].n_leaves();
                self.slope_at(&sides[1], point, slopes, next)
            }
        }
    }

    /// The first node in preorder that splits a parent, and its cell.
    fn first_split<'g>(
        &self,
        cell: &Cell,
        grown: &'g Grown<R::Sum>,
        wanted: usize,
    ) -> Option<(Cell, &'g Grown<R::Sum>)> {
        let Part::Split { parent, left, sides } = &grown.part else { return None };
        if *parent == wanted {
            return Some((cell.clone(), grown));
        }
        let cells = self.sides(cell, *parent, left);
        cells.iter().zip(sides.iter()).find_map(|(cell, side)| self.first_split(cell, side, wanted))
    }

    fn sides(&self, cell: &Cell, parent: usize, left: &Left) -> [Cell; 2] {
        let (to_left, to_right) = cell.points.iter().partition(|&&point| goes_left(left, self.code(point, parent)));
        let mut sides = [to_left, to_right].map(|points| Cell { points, intervals: cell.intervals.clone() });
        if let Left::Bins(bin) = left {
            let (low, size) = cell.intervals[parent];
            sides[0].intervals[parent] = (low, size - 1);
            sides[1].intervals[parent] = (*bin, size - 1);
        }
        sides
    }

    fn spent(&self) -> bool {
        self.search.steps() >= self.enough
    }

    /// Makes a tree better until nothing is gained; `orders` are those to begin with, the first of which made the tree.
    fn better(&mut self, cell: &Cell, first: Grown<R::Sum>, orders: &[Vec<Vec<u16>>]) -> Result<Grown<R::Sum>, Ended> {
        let (mut best, mut order) = (first, &orders[0]);
        for (i, other) in orders.iter().enumerate().skip(1) {
            if self.spent() || orders[..i].contains(other) {
                continue;
            }
            let found = self.searched(cell, other, false)?;
            if found.beats(&best) {
                (best, order) = (found, other);
            }
        }
        best = self.by_sides(cell, best)?;
        let mut order = order.clone();
        for _ in 0..ROUNDS {
            if self.spent() || matches!(best.part, Part::Leaf(_)) {
                break;
            }
            order = self.orders_along(cell, &best, &order);
            let again = self.searched(cell, &order, false)?;
            let again = self.by_sides(cell, again)?;
            if !again.beats(&best) {
                break;
            }
            best = again;
        }
        Ok(best)
    }

    /// Searches each side of a tree's split with an order of its own.
    fn by_sides(&mut self, cell: &Cell, grown: Grown<R::Sum>) -> Result<Grown<R::Sum>, Ended> {
        let Part::Split { parent, left, sides } = grown.part else { return Ok(grown) };
        let cells = self.sides(cell, parent, &left);
        let [one, two] = *sides;
        let one = self.side(&cells[0], one)?;
        let two = self.side(&cells[1], two)?;
        let score = one.score + two.score;
        Ok(Grown { score, part: Part::Split { parent, left, sides: Box::new([one, two]) } })
    }

    fn side(&mut self, cell: &Cell, known: Grown<R::Sum>) -> Result<Grown<R::Sum>, Ended> {
        // With two levels there is one order.
        let open = cell.points.len() > 2 && self.in_order().any(|parent| self.levels(cell, parent).len() > 2);
        if !open || self.spent() {
            return Ok(known);
        }
        let orders = self.first_orders(cell);
        let found = self.searched(cell, &orders[0], false)?;
        let best = if found.beats(&known) { found } else { known };
        self.better(cell, best, &orders)
    }

    /// The best tree over a cell whose levels stand in these orders.
    fn searched(&mut self, cell: &Cell, orders: &[Vec<u16>], first: bool) -> Result<Grown<R::Sum>, Ended> {
        let axes = self.axes(cell, orders, first);
        let mut layout = Layout::default();
        let mut shift = 0;
        for axis in &axes {
            let size = axis.size as u32;
            let mask = ones(size) << shift;
            if axis.split == Split::Halving {
                layout.root |= 1 << shift;
                shift += 1;
            } else {
                layout.levels_mask |= mask;
                layout.root |= mask;
            }
            let begins = shift - u32::from(axis.split == Split::Halving);
            layout.fields.push(Field { split: axis.split, shift: begins, size, mask: ones(size) << begins });
            shift += size;
        }
        let key = |point: u32| -> u64 {
            let bits = |(axis, field): (&Axis, &Field)| {
                let code = self.code(point, axis.parent);
                let here = if axis.split == Split::Halving {
                    code - axis.low as u16
                } else {
                    axis.place[code as usize].into()
                };
                field.row(here)
            };
            axes.iter().zip(&layout.fields).map(bits).sum()
        };
        let mut keyed: Vec<(u64, u32)> = cell.points.iter().map(|&point| (key(point), point)).collect();
        keyed.sort_unstable();
        self.search.points.clear();
        for run in keyed.chunk_by(|one, two| one.0 == two.0) {
            let mut sum = self.sums[run[0].1 as usize].clone();
            run[1..].iter().for_each(|&(_, point)| self.search.response.add(&mut sum, &self.sums[point as usize]));
            self.search.points.push(Point { key: run[0].0, sum });
        }
        self.search.best(&layout, self.log_gamma)?;
        let trace = self.search.trace(&layout)?;
        Ok(self.grown(&trace, 0, &axes, &layout, &keyed))
    }

    /// A traced tree with its own sums, its splits in codes.
    fn grown(
        &self,
        trace: &[Traced<R::Sum>],
        at: usize,
        axes: &[Axis],
        layout: &Layout,
        keyed: &[(u64, u32)],
    ) -> Grown<R::Sum> {
        let Traced::Split { field, left, right } = &trace[at] else {
            let mut points: Vec<u32> = keyed.iter().map(|of| of.1).collect();
            points.sort_unstable();
            let mut sum = self.search.response.zero();
            for &point in &points {
                self.search.response.add(&mut sum, &self.sums[point as usize]);
            }
            let score = self.search.response.worth(&sum).leaf;
            return Grown { score, part: Part::Leaf(sum) };
        };
        let (axis, bits) = (&axes[*field], layout.fields[*field]);
        let place = |key: u64| match axis.split {
            Split::Halving => ((key & bits.mask) >> bits.shift) as u32,
            _ => (key & bits.mask).trailing_zeros() - bits.shift,
        };
        let (mut sides, mut other): (Vec<_>, Vec<_>) = keyed.iter().partition(|of| goes_left(left, place(of.0) as u16));
        let code = |of: &(u64, u32)| u32::from(self.code(of.1, axis.parent));
        let least = |of: &[(u64, u32)]| of.iter().map(code).min().unwrap_or(u32::MAX);
        let mut next = [at + 1, *right];
        let in_codes = match (self.roles[axis.parent], left) {
            (Role::Number, Left::Bins(bin)) => Left::Bins(axis.low + bin),
            (Role::Ordinal, _) => Left::Codes(least(&other)),
            _ => {
                // The lowest code goes left, as in the exact search; levels without rows follow the right side.
                if least(&other) < least(&sides) {
                    std::mem::swap(&mut sides, &mut other);
                    next.reverse();
                }
                let mut codes: Vec<u32> = sides.iter().map(code).collect();
                codes.sort_unstable();
                codes.dedup();
                Left::Among(codes)
            }
        };
        let one = self.grown(trace, next[0], axes, layout, &sides);
        let two = self.grown(trace, next[1], axes, layout, &other);
        let score = one.score + two.score;
        Grown { score, part: Part::Split { parent: axis.parent, left: in_codes, sides: Box::new([one, two]) } }
    }

    /// The levels of each parent in a cell, neighbours merged until the search is within its means.
    fn rows(&mut self, cell: &Cell, orders: &[Vec<u16>], first: bool) -> Vec<Row<R::Sum>> {
        let mut rows: Vec<Row<R::Sum>> = Vec::new();
        for (parent, order) in orders.iter().enumerate() {
            if self.roles[parent] == Role::Number {
                continue;
            }
            let codes = self.levels(cell, parent);
            let sums = self.by_level(cell, parent, &codes);
            let mut own = codes.clone();
            if self.roles[parent] == Role::InOrder {
                own = order.iter().copied().filter(|code| codes.binary_search(code).is_ok()).collect();
            }
            let sum = |code: &u16| sums[codes.partition_point(|known| known < code)].clone();
            let groups = own.iter().map(sum).enumerate().collect();
            rows.push(Row { parent, codes: own, groups });
        }
        let before: Vec<usize> = rows.iter().map(|row| row.groups.len()).collect();
        self.merge(cell, &mut rows);
        if first {
            for (row, levels) in rows.iter().zip(before) {
                let role = self.roles[row.parent];
                let (merged, many) = (row.groups.len() < levels, levels > 2);
                if merged || role == Role::InOrder && many {
                    let (parent, levels, groups) = (self.parents[row.parent], levels as u32, row.groups.len() as u32);
                    self.merged.push(Groups { parent, levels, groups });
                    // One parent and two classes: the order of shares holds the best groups, whatever their number.
                    self.inexact |= merged || self.parents.len() > 1 || !self.search.response.one_suffices();
                }
            }
        }
        rows
    }

    /// The parents that can be split in a cell.
    fn axes(&mut self, cell: &Cell, orders: &[Vec<u16>], first: bool) -> Vec<Axis> {
        let rows = self.rows(cell, orders, first);
        let mut axes: Vec<Axis> = Vec::new();
        for (parent, &(low, size)) in cell.intervals.iter().enumerate() {
            if self.roles[parent] == Role::Number {
                let size = size as usize;
                axes.push(Axis { parent, split: Split::Halving, size, low, place: Vec::new() });
                continue;
            }
            let row = rows.iter().find(|row| row.parent == parent).expect("every parent with levels has a row");
            let mut place = vec![NOWHERE; row.codes.iter().max().map_or(0, |&code| code as usize + 1)];
            for (at, group) in row.groups().enumerate() {
                for &code in group {
                    place[code as usize] = at as u8;
                }
            }
            let split = if self.roles[parent] == Role::Sets { Split::Bipartition } else { Split::Threshold };
            axes.push(Axis { parent, split, size: row.groups.len(), low: 0, place });
        }
        axes.retain(|axis| axis.size > usize::from(axis.split != Split::Halving));
        axes
    }

    /// Merges neighbours, those that lose least first, until the search fits a key and is not too dear.
    fn merge(&self, cell: &Cell, rows: &mut [Row<R::Sum>]) {
        let response = &self.search.response;
        let worth = |sum: &R::Sum| response.worth(sum).leaf;
        let loss = |one: &R::Sum, two: &R::Sum| {
            let mut both = one.clone();
            response.add(&mut both, two);
            worth(one) + worth(two) - worth(&both)
        };
        let add = |one: &mut R::Sum, two: &R::Sum| response.add(one, two);
        let width = response.width();
        let roles: Vec<Role> = rows.iter().map(|row| self.roles[row.parent]).collect();
        let numbers = (0..self.roles.len()).filter(|&p| self.roles[p] == Role::Number);
        let numbers: Vec<Extent> = numbers.map(|p| (Split::Halving, cell.intervals[p].1 as usize)).collect();
        let taken = |row: &mut Row<R::Sum>| (self.roles[row.parent] != Role::Sets, std::mem::take(&mut row.groups));
        let mut merging = Merging::new(rows.iter_mut().map(taken).collect(), &add, &loss);
        let extents = |merging: &Merging<'_, R::Sum>| -> Vec<Extent> {
            let split = |role: &Role| if *role == Role::Sets { Split::Bipartition } else { Split::Threshold };
            let sizes = roles.iter().enumerate().map(|(row, role)| (split(role), merging.n_groups(row)));
            numbers.iter().copied().chain(sizes).collect()
        };
        let cap = dear::cap(dear::IN_ORDER, &extents(&merging), self.n_rows, width);
        loop {
            let extents = extents(&merging);
            let bits: usize = extents.iter().map(|&(split, size)| size + usize::from(split == Split::Halving)).sum();
            if bits <= 64 && dear::steps(&extents, cell.points.len(), width) <= cap || !merging.merge() {
                break;
            }
        }
        for (row, groups) in rows.iter_mut().zip(merging.finish()) {
            row.groups = groups;
        }
    }
}

impl<S> Row<S> {
    /// The codes of each group.
    fn groups(&self) -> impl Iterator<Item = &[u16]> {
        let end = |at: usize| self.groups.get(at + 1).map_or(self.codes.len(), |next| next.0);
        self.groups.iter().enumerate().map(move |(at, of)| &self.codes[of.0..end(at)])
    }
}

impl<S> Grown<S> {
    fn beats(&self, other: &Self) -> bool {
        self.score > other.score + GAIN * (1.0 + other.score.abs())
    }

    fn n_leaves(&self) -> usize {
        match &self.part {
            Part::Leaf(_) => 1,
            Part::Split { sides, .. } => sides.iter().map(Self::n_leaves).sum(),
        }
    }

    fn trace(self, trace: &mut Trace<S>) {
        match self.part {
            Part::Leaf(sum) => trace.leaf(sum),
            Part::Split { parent, left, sides } => {
                let [one, two] = *sides;
                let split = trace.split(parent, left);
                one.trace(trace);
                trace.turn_right(split);
                two.trace(trace);
            }
        }
    }
}

fn goes_left(left: &Left, code: u16) -> bool {
    match left {
        Left::Bins(first) | Left::Codes(first) => u32::from(code) < *first,
        Left::Among(codes) => codes.binary_search(&u32::from(code)).is_ok(),
    }
}
