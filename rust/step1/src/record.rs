//! A block of parent sets of one child, and the record of its scoring: the sets kept, and why some could not be scored.
//!
//! Records are what a checkpoint stores and other machines send back, so they have a byte form (little endian) that
//! refuses what does not fit together.

use crate::control::Control;
use crate::error::{Error, Result};
use crate::local::{ChildScore, Groups, LocalScore};
use crate::parents::Parents;
use crate::table::Var;

use super::space::Space;

/// Reasons told per block; further families that cannot be scored are counted.
const REASONS: usize = 8;

/// Consecutive parent sets of one child and one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// The child.
    pub child: Var,
    /// Number of optional parents.
    pub size: usize,
    /// The number of the first set.
    pub start: u64,
    /// How many sets.
    pub len: u32,
}

/// What a layer needs to know of the one below it, by number of the set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// The best score among the permitted subsets, the set itself included.
    pub best: Vec<f64>,
    /// The least upper bound over the supersets of its subsets; empty if nothing is known.
    pub bounds: Vec<f64>,
}

impl Layer {
    /// The best score of all proper subsets of a set, and the least bound on the set itself.
    pub fn around(&self, space: &Space, set: &[usize]) -> (f64, f64) {
        let (mut floor, mut cap) = (f64::NEG_INFINITY, f64::INFINITY);
        if self.bounds.is_empty() {
            space.each_below(set, |rank| floor = floor.max(self.best[rank]));
        } else {
            space.each_below(set, |rank| {
                floor = floor.max(self.best[rank]);
                cap = cap.min(self.bounds[rank]);
            });
        }
        (floor, cap)
    }

    /// The byte form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8 * (1 + self.best.len() + self.bounds.len()));
        out.extend((self.best.len() as u64).to_le_bytes());
        out.extend(self.best.iter().chain(&self.bounds).flat_map(|x| x.to_le_bytes()));
        out
    }

    /// Reads the byte form.
    ///
    /// # Errors
    /// If lengths do not fit.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut read = Reader(bytes);
        let n = read.u64()? as usize;
        let rest = read.0.len() / 8;
        if !read.0.len().is_multiple_of(8) || (rest != n && Some(rest) != n.checked_mul(2)) {
            return Err(malformed());
        }
        let best = read.reals(n)?;
        let bounds = read.reals(rest - n)?;
        Ok(Self { best, bounds })
    }
}

/// What came out of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The block.
    pub block: Block,
    /// The sets not dominated by a subset, or all that have a score: place in the block, and score.
    pub kept: Vec<(u32, f64)>,
    /// Per set, the bound on its supersets; empty if none is finite, or no layer follows.
    pub bounds: Vec<f64>,
    /// How many sets were scored: those left that no bound ruled out.
    pub evaluated: u32,
    /// How many could not be scored.
    pub n_skipped: u32,
    /// The first of them: place in the block, and reason.
    pub skipped: Vec<(u32, String)>,
    /// How many of those scored have lower bounds as scores, since levels were grouped in order.
    pub n_in_order: u32,
    /// Those of them that were kept: place in the block, and how.
    pub in_order: Vec<(u32, Vec<Groups>)>,
}

/// Scores a block; `below` belongs to the layer below.
///
/// # Errors
/// If asked to stop, or a score fails for another reason than that one family cannot be scored, or is not a number.
pub fn score_block(
    score: &dyn LocalScore,
    scratch: &mut dyn ChildScore,
    space: &Space,
    block: Block,
    below: &Layer,
    control: &Control,
) -> Result<Record> {
    let mut record = Record::of(block);
    let last = block.size == space.layers();
    let mut set = space.unrank(block.size, block.start);
    let mut parents = Parents::new();
    for place in 0..block.len {
        control.check()?;
        // A set that is kept whatever its subsets score has nothing to beat.
        let free = block.size == 0 || space.keeps_all();
        let (floor, mut cap) = if free { (f64::NEG_INFINITY, f64::INFINITY) } else { below.around(space, &set) };
        if cap > floor {
            space.parents(&set, &mut parents);
            match scratch.score_above(&parents, floor) {
                Ok(found) => {
                    record.evaluated += 1;
                    record.n_in_order += u32::from(scratch.in_order().is_some());
                    if let Some(found) = found {
                        finite(score, block.child, &parents, found)?;
                        if found > floor {
                            record.kept.push((place, found));
                            record.in_order.extend(scratch.in_order().map(|groups| (place, groups.to_vec())));
                        }
                    }
                    if !last {
                        cap = cap.min(scratch.superset_bound(&parents));
                    }
                }
                Err(error @ (Error::Family { .. } | Error::Memory { .. })) => {
                    record.n_skipped += 1;
                    if record.skipped.len() < REASONS {
                        record.skipped.push((place, error.to_string()));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        if !last {
            record.bounds.push(cap);
        }
        Space::advance(&mut set);
    }
    if record.bounds.iter().all(|&bound| bound == f64::INFINITY) {
        record.bounds.clear();
    }
    Ok(record)
}

pub(super) fn finite(score: &dyn LocalScore, child: Var, parents: &[Var], found: f64) -> Result<()> {
    if found < f64::INFINITY {
        return Ok(());
    }
    let table = score.table();
    Err(Error::Score {
        child: table.name(child).to_owned(),
        parents: parents.iter().map(|&p| table.name(p).to_owned()).collect(),
        problem: format!("it is {found}, where scores are finite or minus infinity"),
    })
}

impl Record {
    /// Of a block without a score.
    pub fn of(block: Block) -> Self {
        Self {
            block,
            kept: vec![],
            bounds: vec![],
            evaluated: 0,
            n_skipped: 0,
            skipped: vec![],
            n_in_order: 0,
            in_order: vec![],
        }
    }

    /// The byte form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(48 + 12 * self.kept.len() + 8 * self.bounds.len());
        let block = self.block;
        out.extend((block.child as u32).to_le_bytes());
        out.extend((block.size as u32).to_le_bytes());
        out.extend(block.start.to_le_bytes());
        for count in [
            block.len,
            self.evaluated,
            self.n_skipped,
            self.kept.len() as u32,
            self.bounds.len() as u32,
            self.skipped.len() as u32,
        ] {
            out.extend(count.to_le_bytes());
        }
        out.extend(self.kept.iter().flat_map(|k| k.0.to_le_bytes()));
        out.extend(self.kept.iter().flat_map(|k| k.1.to_le_bytes()));
        out.extend(self.bounds.iter().flat_map(|b| b.to_le_bytes()));
        for (place, reason) in &self.skipped {
            out.extend(place.to_le_bytes());
            out.extend((reason.len() as u32).to_le_bytes());
            out.extend(reason.as_bytes());
        }
        // Earlier records have no such part.
        if self.n_in_order > 0 {
            out.extend(self.n_in_order.to_le_bytes());
            out.extend((self.in_order.len() as u32).to_le_bytes());
            for (place, groups) in &self.in_order {
                out.extend(place.to_le_bytes());
                out.extend((groups.len() as u32).to_le_bytes());
                for of in groups {
                    out.extend([of.parent as u32, of.levels, of.groups].iter().flat_map(|x| x.to_le_bytes()));
                }
            }
        }
        out
    }

    /// Reads the byte form.
    ///
    /// # Errors
    /// If it does not fit together.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut read = Reader(bytes);
        let (child, size) = (read.u32()? as Var, read.u32()? as usize);
        let start = read.u64()?;
        let [len, evaluated, n_skipped, n_kept, n_bounds, n_reasons] =
            [read.u32()?, read.u32()?, read.u32()?, read.u32()?, read.u32()?, read.u32()?];
        let places = (0..n_kept).map(|_| read.u32()).collect::<Result<Vec<_>>>()?;
        let scores = read.reals(n_kept as usize)?;
        let bounds = read.reals(n_bounds as usize)?;
        let mut skipped = vec![];
        for _ in 0..n_reasons {
            let (place, length) = (read.u32()?, read.u32()?);
            let reason = std::str::from_utf8(read.take(length as usize)?).map_err(|_| malformed())?;
            skipped.push((place, reason.to_owned()));
        }
        let (mut n_in_order, mut in_order) = (0, vec![]);
        if !read.0.is_empty() {
            n_in_order = read.u32()?;
            for _ in 0..read.u32()? {
                let (place, n_groups) = (read.u32()?, read.u32()?);
                let one = |read: &mut Reader| {
                    Ok(Groups { parent: read.u32()? as Var, levels: read.u32()?, groups: read.u32()? })
                };
                in_order.push((place, (0..n_groups).map(|_| one(&mut read)).collect::<Result<Vec<_>>>()?));
            }
        }
        let fits = read.0.is_empty()
            && in_order.iter().all(|of| places.binary_search(&of.0).is_ok())
            && places.iter().chain(skipped.iter().map(|s| &s.0)).all(|&place| place < len)
            && places.windows(2).all(|w| w[0] < w[1])
            && scores.iter().all(|s| s.is_finite())
            && (n_bounds == 0 || n_bounds == len);
        if !fits {
            return Err(malformed());
        }
        let kept = places.into_iter().zip(scores).collect();
        let block = Block { child, size, start, len };
        Ok(Self { block, kept, bounds, evaluated, n_skipped, skipped, n_in_order, in_order })
    }
}

fn malformed() -> Error {
    Error::Shape("the record of a block of parent sets does not fit together".to_owned())
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| malformed())
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn reals(&mut self, n: usize) -> Result<Vec<f64>> {
        let bytes = self.take(n.checked_mul(8).ok_or_else(malformed)?)?;
        Ok(bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("chunks of eight"))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_from_their_bytes_and_torn_ones_are_refused() {
        let record = Record {
            block: Block { child: 3, size: 2, start: 1 << 40, len: 7 },
            kept: vec![(0, -1.5), (6, 0.1 + 0.2)],
            bounds: vec![f64::INFINITY; 7],
            evaluated: 6,
            n_skipped: 1,
            skipped: vec![(4, "zu groß".to_owned())],
            n_in_order: 0,
            in_order: vec![],
        };
        let bytes = record.to_bytes();
        assert_eq!(Record::from_bytes(&bytes).unwrap(), record);
        for end in 0..bytes.len() {
            assert!(Record::from_bytes(&bytes[..end]).is_err());
        }
        let groups = vec![Groups { parent: 2, levels: 4000, groups: 61 }, Groups { parent: 5, levels: 30, groups: 30 }];
        let in_order = Record { n_in_order: 9, in_order: vec![(6, groups)], ..record };
        let longer = in_order.to_bytes();
        assert_eq!(Record::from_bytes(&longer).unwrap(), in_order);
        for end in (0..longer.len()).filter(|&end| end != bytes.len()) {
            assert!(Record::from_bytes(&longer[..end]).is_err());
        }
        let stray = Record { in_order: vec![(3, vec![])], ..in_order };
        assert!(Record::from_bytes(&stray.to_bytes()).is_err(), "of a set that was not kept");
        let layer = Layer { best: vec![1.0, 2.0], bounds: vec![3.0, f64::INFINITY] };
        assert_eq!(Layer::from_bytes(&layer.to_bytes()).unwrap(), layer);
        let layer = Layer { best: vec![1.0, 2.0], bounds: vec![] };
        assert_eq!(Layer::from_bytes(&layer.to_bytes()).unwrap(), layer);
    }

    #[test]
    fn a_layer_whose_length_overflows_or_leaves_bytes_over_is_refused() {
        let of_length = |n: u64, rest: usize| [&n.to_le_bytes()[..], &vec![0; rest]].concat();
        for (n, rest) in [(1 << 63, 0), ((1 << 63) + 1, 16), (u64::MAX, 8), (1, 9), (0, 3)] {
            assert!(Layer::from_bytes(&of_length(n, rest)).is_err(), "{n} {rest}");
        }
    }
}
