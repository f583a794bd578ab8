//! The part of the predictors' space that leads to a leaf, as disjoint boxes: a split cuts every box, a merge puts two
//! lists together. From them follow which levels are still possible, which share of all configurations a leaf has, and
//! which predictors a graph depends on.
//!
//! Boxes that differ in one predictor only are joined. A leaf of more than `MOST_BOXES` boxes keeps one hull around
//! them, with their exact share: then more levels may count as possible than are, which costs the uniform prior
//! nothing (an impossible leaf is an empty one).

use smallvec::SmallVec;

use super::levels::Levels;

/// A product of sets of levels; predictors that are not named are free.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// By predictor, ascending.
    limits: SmallVec<[(u32, Levels); 4]>,
    /// Share of all configurations.
    share: f64,
}

/// The boxes of one leaf.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    cells: Vec<Cell>,
    exact: bool,
}

/// A leaf of more boxes keeps their hull.
const MOST_BOXES: usize = 2048;
/// Joining looks at pairs of boxes; for more than this many it would cost more than it saves.
const MOST_JOINED: usize = 128;

impl Cell {
    /// The levels of a predictor, if they are limited.
    pub fn limit(&self, field: usize) -> Option<&Levels> {
        self.limits.binary_search_by_key(&(field as u32), |l| l.0).ok().map(|at| &self.limits[at].1)
    }

    /// Every predictor that is limited, with its levels.
    pub fn limits(&self) -> impl Iterator<Item = (usize, &Levels)> + '_ {
        self.limits.iter().map(|(field, levels)| (*field as usize, levels))
    }

    fn within(&self, field: usize, k: usize, levels: &Levels) -> Option<Self> {
        let mut cell = self.clone();
        match cell.limits.binary_search_by_key(&(field as u32), |l| l.0) {
            Ok(at) => {
                let before = cell.limits[at].1.len() as f64;
                cell.limits[at].1 = cell.limits[at].1.and(levels);
                cell.share *= cell.limits[at].1.len() as f64 / before;
                (!cell.limits[at].1.is_empty()).then_some(cell)
            }
            Err(at) => {
                cell.share *= levels.len() as f64 / k as f64;
                cell.limits.insert(at, (field as u32, levels.clone()));
                Some(cell)
            }
        }
    }

    /// The one box that both make, if they differ in one predictor only.
    fn joined(&self, other: &Self, n_levels: impl Fn(usize) -> usize) -> Option<Self> {
        if self.limits.len() != other.limits.len() {
            return None;
        }
        let mut differs = None;
        for (i, (a, b)) in self.limits.iter().zip(&other.limits).enumerate() {
            if a.0 != b.0 || a.1 != b.1 && differs.replace(i).is_some() {
                return None;
            }
        }
        let at = differs?;
        let mut cell = self.clone();
        cell.share += other.share;
        cell.limits[at].1 = self.limits[at].1.or(&other.limits[at].1);
        if cell.limits[at].1.len() == n_levels(self.limits[at].0 as usize) {
            cell.limits.remove(at);
        }
        Some(cell)
    }

    /// The predictor in which alone the two are disjoint, if there is exactly one.
    fn parted_by(&self, other: &Self) -> Option<usize> {
        let mut found = None;
        for (field, levels) in self.limits() {
            if other.limit(field).is_some_and(|theirs| theirs.disjoint(levels)) && found.replace(field).is_some() {
                return None;
            }
        }
        found
    }
}

impl Region {
    /// Everything.
    pub fn whole() -> Self {
        Self { cells: vec![Cell { limits: SmallVec::new(), share: 1.0 }], exact: true }
    }

    /// The boxes.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Whether the boxes are the region itself, and not a hull.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Share of all configurations.
    pub fn share(&self) -> f64 {
        self.cells.iter().map(|cell| cell.share).sum()
    }

    /// The levels of a predictor that lead here; `None` stands for all.
    pub fn possible(&self, field: usize) -> Option<Levels> {
        let mut out: Option<Levels> = None;
        for cell in &self.cells {
            let limit = cell.limit(field)?;
            out = Some(out.map_or_else(|| limit.clone(), |levels| levels.or(limit)));
        }
        out
    }

    /// Share of all configurations by level of a predictor with `k` levels.
    pub fn shares(&self, field: usize, k: usize) -> Vec<f64> {
        let mut out = vec![0.0; k];
        for cell in &self.cells {
            match cell.limit(field) {
                None => out.iter_mut().for_each(|share| *share += cell.share / k as f64),
                Some(levels) => {
                    let each = cell.share / levels.len() as f64;
                    levels.iter().for_each(|code| out[code as usize] += each);
                }
            }
        }
        out
    }

    /// The part where a predictor with `k` levels has one of these.
    #[must_use]
    pub fn within(&self, field: usize, k: usize, levels: &Levels) -> Self {
        Self { cells: self.cells.iter().filter_map(|cell| cell.within(field, k, levels)).collect(), exact: self.exact }
    }

    /// Both together.
    #[must_use]
    pub fn union(&self, other: &Self, n_levels: impl Fn(usize) -> usize + Copy) -> Self {
        let mut cells = self.cells.clone();
        let exact = self.exact && other.exact;
        if cells.len() + other.cells.len() > MOST_JOINED {
            cells.extend(other.cells.iter().cloned());
        } else {
            for new in &other.cells {
                let mut new = new.clone();
                while let Some((at, joined)) =
                    cells.iter().enumerate().find_map(|(at, cell)| Some((at, cell.joined(&new, n_levels)?)))
                {
                    cells.remove(at);
                    new = joined;
                }
                cells.push(new);
            }
        }
        if cells.len() > MOST_BOXES {
            return Self { cells: vec![hull(&cells)], exact: false };
        }
        Self { cells, exact }
    }
}

fn hull(cells: &[Cell]) -> Cell {
    let share = cells.iter().map(|cell| cell.share).sum();
    let mut limits = cells[0].limits.clone();
    for cell in &cells[1..] {
        limits.retain(|(field, levels)| match cell.limit(*field as usize) {
            Some(theirs) => {
                *levels = levels.or(theirs);
                true
            }
            None => false,
        });
    }
    Cell { limits, share }
}

/// Which predictors make a difference, of those that are asked about: two leaves have boxes that only this predictor
/// keeps apart. All of them if a region is only known by its hull.
pub fn relevant(regions: &[&Region], asked: &[bool]) -> Vec<bool> {
    if !regions.iter().all(|region| region.exact) {
        return asked.to_vec();
    }
    let mut out = vec![false; asked.len()];
    let mut left = asked.iter().filter(|&&asked| asked).count();
    for (i, region) in regions.iter().enumerate() {
        for other in &regions[i + 1..] {
            for cell in &region.cells {
                if left == 0 {
                    return out;
                }
                for field in other.cells.iter().filter_map(|theirs| cell.parted_by(theirs)) {
                    left = left.saturating_sub(usize::from(!std::mem::replace(&mut out[field], true)));
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(codes: &[u32]) -> Levels {
        Levels::of(3, codes.iter().copied())
    }

    #[test]
    fn the_sides_of_a_split_put_together_are_the_leaf_again() {
        let whole = Region::whole();
        let (left, right) = (whole.within(1, 3, &levels(&[0])), whole.within(1, 3, &levels(&[1, 2])));
        assert!((left.share() - 1.0 / 3.0).abs() < 1e-15 && (right.share() - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(left.union(&right, |_| 3), whole);
    }

    #[test]
    fn a_merged_leaf_knows_which_levels_lead_to_it() {
        let whole = Region::whole();
        let a = whole.within(0, 3, &levels(&[0])).within(1, 3, &levels(&[1]));
        let b = whole.within(0, 3, &levels(&[1])).within(1, 3, &levels(&[2]));
        let both = a.union(&b, |_| 3);
        assert_eq!(both.possible(0), Some(levels(&[0, 1])));
        assert_eq!(both.within(0, 3, &levels(&[1])).possible(1), Some(levels(&[2])));
        assert_eq!(both.possible(2), None);
        let ninth = 1.0 / 9.0;
        assert_eq!(both.shares(1, 3), [0.0, ninth, ninth]);
    }

    #[test]
    fn a_predictor_whose_sides_were_merged_again_makes_no_difference() {
        let whole = Region::whole();
        let part = |x: &[u32], y: &[u32]| whole.within(0, 3, &levels(x)).within(1, 3, &levels(y));
        // Split by 0, each side by 1, merged across: only predictor 1 is left.
        let first = part(&[0], &[0]).union(&part(&[1, 2], &[0]), |_| 3);
        let second = part(&[0], &[1, 2]).union(&part(&[1, 2], &[1, 2]), |_| 3);
        assert_eq!(relevant(&[&first, &second], &[true, true, false]), [false, true, false]);
        // Merged crosswise, both matter.
        let first = part(&[0], &[0]).union(&part(&[1, 2], &[1, 2]), |_| 3);
        let second = part(&[0], &[1, 2]).union(&part(&[1, 2], &[0]), |_| 3);
        assert_eq!(relevant(&[&first, &second], &[true, true, false]), [true, true, false]);
    }
}
