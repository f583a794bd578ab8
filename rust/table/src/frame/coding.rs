//! How one variable is coded: what becomes of the values of a raw column, in rows that are learned from and in rows with gaps.
//!
//! Rows to learn from are complete ([`KeptRows`]), and their numbers are standardised by themselves unless a map is known. Rows with
//! gaps come later and are coded as those were, so their map is known.

use super::kept_rows::KeptRows;
use super::numbers;
use super::raw::RawValues;
use super::{Cells, MISSING};
use crate::error::{Error, Result};
use crate::normal_scores::NormalScores;
use crate::table::{Codes, Column, Kind, Variable};
use crate::units::{Affine, Units, logarithm};

/// How logarithms are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logarithm {
    /// What is added before.
    pub shift: f64,
    /// Numbers below count as this one.
    pub least: f64,
}

impl Logarithm {
    /// NaN for a number that has none.
    fn of(self, x: f64) -> f64 {
        // Comparisons with NaN are false, so that it stays.
        logarithm(if x < self.least { self.least } else { x }, self.shift)
    }
}

/// What numbers are taken by.
#[derive(Clone, Debug, PartialEq)]
pub enum Bend {
    /// Their logarithms.
    Log(Logarithm),
    /// Their normal scores; if the curve is not known, the rows at hand say it.
    Scores(Option<NormalScores>),
}

impl Bend {
    /// What it makes of a number; NaN if that has none. Numbers whose curve is not known stay as they are.
    fn of(&self, x: f64) -> f64 {
        match self {
            Self::Log(log) => log.of(x),
            Self::Scores(scores) => scores.as_ref().map_or(x, |scores| scores.to_score(x)),
        }
    }

    fn take(&self, values: &mut [f64]) {
        for x in values {
            *x = self.of(*x);
        }
    }

    /// With the curve of these numbers, if it is not known.
    fn known_by(self, values: &[f64], weights: Option<&[f64]>, point: Option<f64>) -> Self {
        match self {
            Self::Scores(None) => Self::Scores(Some(NormalScores::of(values, weights, point))),
            known => known,
        }
    }
}

/// What becomes of a column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Coding {
    /// Numbers, their logarithms or their normal scores, standardised.
    Reals {
        /// What they are taken by, if not as they are.
        bend: Option<Bend>,
        /// The affine map that follows, if it is known; otherwise the rows at hand say it.
        map: Option<Affine>,
    },
    /// Levels.
    Levels {
        /// For each distinct value by rank, the code of its level; [`MISSING`] for a value that counts as missing.
        codes: Vec<u32>,
        /// The code of a missing value; [`MISSING`] if it has none.
        missing: u32,
    },
    /// Bins with these upper ends, the last bin left open.
    Bins(Vec<f64>),
}

/// A variable and how it is coded.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The variable; its units, if it is continuous, follow from the rows.
    pub variable: Variable,
    /// What becomes of its values.
    pub coding: Coding,
}

/// For each row whether it has a value under every recipe, and for each recipe how many rows lack one. A recipe without a
/// column asks nothing of the rows.
pub fn complete_rows<'a, R: RawValues + 'a>(
    n_rows: usize,
    recipes: impl Iterator<Item = (&'a Recipe, Option<&'a R>)>,
) -> (Vec<bool>, Vec<u64>) {
    let mut complete = vec![true; n_rows];
    let clear = |(recipe, raw): (&Recipe, Option<&R>)| raw.map_or(0, |raw| recipe.clear_missing(raw, &mut complete));
    let n_missing = recipes.map(clear).collect();
    (complete, n_missing)
}

impl Recipe {
    /// Clears the rows without a value, and says how many there are.
    fn clear_missing(&self, raw: &impl RawValues, complete: &mut [bool]) -> u64 {
        let log = match &self.coding {
            Coding::Levels { codes, missing } => return raw.levels().clear_missing(codes, *missing, complete),
            Coding::Reals { bend: Some(Bend::Log(log)), .. } => Some(*log),
            // Every number has a normal score.
            Coding::Reals { .. } | Coding::Bins(_) => None,
        };
        let has_none = |x: f64| log.is_some_and(|log| log.of(x).is_nan());
        // If the smallest number has a logarithm, all have: then nobody has to look at the rows.
        if raw.profile().is_some_and(|profile| {
            profile.n_null + profile.n_nan == 0 && (profile.n_values() == 0 || !has_none(profile.minimum))
        }) {
            return 0;
        }
        let mut rows = complete.iter_mut();
        let mut n = 0;
        raw.for_each_number(&mut |x| {
            if let Some(complete) = rows.next()
                && x.is_none_or(has_none)
            {
                *complete = false;
                n += 1;
            }
        });
        n
    }

    /// The values of the kept rows, all of which have one, and the variable as it turns out.
    ///
    /// # Errors
    /// If numbers are too large or too close together to be standardised.
    pub fn encode(&self, raw: &impl RawValues, kept: &KeptRows) -> Result<(Variable, Column)> {
        let mut variable = self.variable.clone();
        let n_levels = variable.n_levels().unwrap_or(0);
        let column = match &self.coding {
            Coding::Levels { codes, missing } => {
                Column::Codes(raw.levels().encode(codes, *missing, n_levels, kept.mask()))
            }
            Coding::Bins(cuts) => {
                let mut codes = Vec::with_capacity(kept.n_kept());
                kept.for_each_number(raw, &mut |x| codes.push(numbers::bin(cuts, x)));
                Column::Codes(Codes::pack(&codes, n_levels))
            }
            Coding::Reals { bend, map } => {
                let mut values = kept.numbers(raw);
                // What is declared of the column beside its map.
                let Units { point, leaf, .. } = match &self.variable.kind {
                    Kind::Continuous { scale } => scale.clone(),
                    _ => Units::IDENTITY,
                };
                let at = point.map(|point| point.at);
                let bend = bend.clone().map(|bend| bend.known_by(&values, kept.weights(), at));
                if let Some(bend) = &bend {
                    bend.take(&mut values);
                }
                let map = if let Some(map) = map {
                    numbers::apply(*map, &mut values);
                    *map
                } else {
                    numbers::check_size(&values)
                        .map_err(|(problem, advice)| Error::column(&*variable.name, problem, advice))?;
                    numbers::standardise(&mut values, kept.weights())
                };
                let (log, scores) = match bend {
                    Some(Bend::Log(log)) => (Some(log.shift), None),
                    Some(Bend::Scores(scores)) => (None, scores),
                    None => (None, None),
                };
                variable.kind = Kind::Continuous { scale: Units { log, scores, point, leaf, ..map.into() } };
                Column::Reals(values)
            }
        };
        Ok((variable, column))
    }

    /// The values of every row, some of them missing. Numbers whose map is not known stay as they are.
    pub fn cells(&self, raw: &impl RawValues) -> Cells {
        match &self.coding {
            Coding::Levels { codes, missing } => raw.levels().cells(codes, *missing),
            Coding::Bins(cuts) => {
                let mut codes = Vec::with_capacity(raw.n_rows());
                raw.for_each_number(&mut |x| codes.push(x.map_or(MISSING, |x| numbers::bin(cuts, x))));
                Cells::Codes(codes)
            }
            Coding::Reals { bend, map } => {
                let mut values = Vec::with_capacity(raw.n_rows());
                raw.for_each_number(&mut |x| values.push(x.unwrap_or(f64::NAN)));
                if let Some(bend) = bend {
                    bend.take(&mut values);
                }
                numbers::apply(map.unwrap_or(Affine::IDENTITY), &mut values);
                Cells::Reals(values)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::raw::tests::{Told, ranked};
    use super::*;
    use crate::table::Level;

    fn variable(kind: Kind) -> Variable {
        Variable { name: "x".into(), kind }
    }

    fn reals(log: Option<Logarithm>, map: Option<Affine>) -> Recipe {
        let variable = variable(Kind::Continuous { scale: Units::IDENTITY });
        Recipe { variable, coding: Coding::Reals { bend: log.map(Bend::Log), map } }
    }

    fn of_levels(n_levels: usize, coding: Coding) -> Recipe {
        let levels: Arc<[Level]> = (0..n_levels as i64).map(Level::Int).collect();
        Recipe { variable: variable(Kind::Categorical { levels }), coding }
    }

    /// The rows that have values of one recipe, how many lack one, and their coded values.
    fn learned(recipe: &Recipe, raw: &Told, weights: Option<&[f64]>) -> (usize, u64, Variable, Column) {
        let (complete, n_missing) = complete_rows(raw.n_rows(), [(recipe, Some(raw))].into_iter());
        let kept = KeptRows::new(complete, weights, false).unwrap();
        let (variable, column) = recipe.encode(raw, &kept).unwrap();
        (kept.n_kept(), n_missing[0], variable, column)
    }

    const NONE: Option<f64> = None;

    #[test]
    fn rows_are_complete_if_no_recipe_lacks_a_value_and_each_is_counted() {
        let (some, all) = (Told::new(&[Some(1.0), NONE, Some(3.0), NONE]), Told::new(&[Some(1.0); 4]));
        let low = Told::new(&[Some(0.0), Some(0.0), Some(2.0), Some(-1.0)]);
        let logs = reals(Some(Logarithm { shift: 0.0, least: f64::NEG_INFINITY }), None);
        let plain = reals(None, None);
        let pairs = [(&plain, Some(&some)), (&plain, Some(&all)), (&logs, Some(&low)), (&plain, None)];
        let (complete, n_missing) = complete_rows(4, pairs.into_iter());
        assert_eq!(complete, [false, false, true, false]);
        assert_eq!(n_missing, [2, 0, 3, 0]);
    }

    #[test]
    fn rows_with_a_logarithm_are_not_looked_at_one_by_one() {
        let raw = Told::new(&[Some(0.5), Some(2.0)]);
        for shift in [0.0, 1.0] {
            let recipe = reals(Some(Logarithm { shift, least: f64::NEG_INFINITY }), None);
            assert_eq!(complete_rows(2, [(&recipe, Some(&raw))].into_iter()).0, [true, true]);
        }
        assert_eq!(raw.n_looks(), 0);
    }

    #[test]
    fn kept_numbers_are_standardised_and_say_their_units() {
        let raw = Told::new(&[Some(1.0), NONE, Some(5.0)]);
        let (n_kept, n_missing, variable, column) = learned(&reals(None, None), &raw, None);
        assert_eq!((n_kept, n_missing, column), (2, 1, Column::Reals(vec![-1.0, 1.0])));
        assert_eq!(variable.kind, Kind::Continuous { scale: Affine { shift: 3.0, scale: 2.0 }.into() });
    }

    #[test]
    fn a_known_map_is_used_as_it_is() {
        let raw = Told::new(&[Some(1.0), Some(5.0)]);
        let map = Affine { shift: 1.0, scale: 4.0 };
        let (_, _, variable, column) = learned(&reals(None, Some(map)), &raw, None);
        assert_eq!(column, Column::Reals(vec![0.0, 1.0]));
        assert_eq!(variable.kind, Kind::Continuous { scale: map.into() });
    }

    #[test]
    fn weighted_rows_are_standardised_as_repeated_ones() {
        let raw = Told::new(&[Some(1.0), Some(7.0), Some(3.0)]);
        let weighted = learned(&reals(None, None), &raw, Some(&[1.0, 0.0, 3.0]));
        let repeated = Told::new(&[Some(1.0), Some(3.0), Some(3.0), Some(3.0)]);
        let (.., variable, column) = learned(&reals(None, None), &repeated, None);
        let Column::Reals(all) = column else { panic!("numbers") };
        assert_eq!((weighted.0, weighted.2, weighted.3), (2, variable, Column::Reals(all[..2].to_vec())));
    }

    #[test]
    fn logarithms_are_taken_of_numbers_from_the_least_up() {
        let raw = Told::new(&[Some(-3.0), Some(0.0), Some(1.0), Some(3.0), NONE]);
        let log = Logarithm { shift: 1.0, least: f64::NEG_INFINITY };
        let (n_kept, n_missing, variable, column) = learned(&reals(Some(log), Some(Affine::IDENTITY)), &raw, None);
        assert_eq!((n_kept, n_missing), (3, 2));
        assert_eq!(column, Column::Reals(vec![0.0, 2.0_f64.ln(), 4.0_f64.ln()]));
        assert_eq!(variable.kind, Kind::Continuous { scale: Units { log: Some(1.0), ..Units::IDENTITY } });

        let lifted = reals(Some(Logarithm { least: 1.0, ..log }), Some(Affine::IDENTITY));
        let (n_kept, n_missing, _, column) = learned(&lifted, &raw, None);
        assert_eq!((n_kept, n_missing), (4, 1));
        let two = 2.0_f64.ln();
        assert_eq!(column, Column::Reals(vec![two, two, two, 4.0_f64.ln()]));
        let Cells::Reals(cells) = lifted.cells(&raw) else { panic!("numbers") };
        assert_eq!(cells[..4], [two, two, two, 4.0_f64.ln()]);
        assert!(cells[4].is_nan());
    }

    #[test]
    fn bins_end_with_their_upper_ends_and_gaps_stay() {
        let raw = Told::new(&[Some(1.0), NONE, Some(2.0), Some(2.5), Some(9.0)]);
        let recipe = of_levels(3, Coding::Bins(vec![2.0, 3.0]));
        let (n_kept, n_missing, _, column) = learned(&recipe, &raw, None);
        assert_eq!((n_kept, n_missing, column), (4, 1, Column::Codes(Codes::U8(vec![0, 0, 1, 2]))));
        assert_eq!(recipe.cells(&raw), Cells::Codes(vec![0, MISSING, 0, 1, 2]));
    }

    #[test]
    fn levels_are_recoded_and_a_gap_may_be_one() {
        let raw = ranked(&[2, MISSING, 0, 1], 3);
        let recipe = of_levels(2, Coding::Levels { codes: vec![1, MISSING, 0], missing: MISSING });
        let (n_kept, n_missing, _, column) = learned(&recipe, &raw, None);
        assert_eq!((n_kept, n_missing, column), (2, 2, Column::Codes(Codes::U8(vec![0, 1]))));
        assert_eq!(recipe.cells(&raw), Cells::Codes(vec![0, MISSING, 1, MISSING]));

        let with_gaps = of_levels(3, Coding::Levels { codes: vec![1, 0, 0], missing: 2 });
        let (n_kept, n_missing, _, column) = learned(&with_gaps, &raw, None);
        assert_eq!((n_kept, n_missing, column), (4, 0, Column::Codes(Codes::U8(vec![0, 2, 1, 0]))));
        assert_eq!(with_gaps.cells(&raw), Cells::Codes(vec![0, 2, 1, 0]));
    }

    #[test]
    fn numbers_that_cannot_be_standardised_are_refused_by_their_column() {
        let raw = Told::new(&[Some(1.0), Some(1e300)]);
        let kept = KeptRows::new(vec![true; 2], None, false).unwrap();
        let told = reals(None, None).encode(&raw, &kept).unwrap_err().to_string();
        assert!(told.contains("'x' holds 1e300") && told.contains("divide it"), "{told}");
        assert!(reals(None, Some(Affine::IDENTITY)).encode(&raw, &kept).is_ok(), "a known map is taken as it is");
    }
}
