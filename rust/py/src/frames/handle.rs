//! What Python holds of a frame: its raw columns, the rows it keeps, and rows coded for a model.

use std::sync::Arc;

use arbornet_core::frame::{Cells, MISSING, Rows, numbers};
use arbornet_core::table::{log_shift, logarithm};
use arbornet_core::weights;
use arbornet_core::{Affine, Codes, Column, Control, Error, Kind, Level, Table, Units, Variable};
use arrow_buffer::i256;
use arrow_schema::TimeUnit;
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use super::column::{Data, RawColumn, SHOWN};
use super::exact::decimal_text;
use super::objects::column;
use super::stream::Opened;
use super::values::Class;
use crate::errors::CoreError;
use crate::handles::{PyUnits, TableHandle, level_from_python, level_to_python};
use crate::jobs::{Jobs, pool, watched, watched_or_left};

/// The columns of a frame in compact form, not yet told what kind they are.
#[pyclass(frozen, module = "arbornet._core")]
pub struct RawFrame {
    columns: Arc<Vec<RawColumn>>,
    n_rows: usize,
}

/// How one variable is coded: which raw column it comes from and what becomes of its values.
#[derive(FromPyObject)]
pub struct Plan<'py> {
    name: String,
    /// Position among the raw columns; none if the frame lacks it.
    column: Option<usize>,
    kind: String,
    levels: Option<Vec<Bound<'py, PyAny>>>,
    /// For each distinct value of the column by rank, the code of its level.
    codes: Option<Vec<u32>>,
    /// The code of a missing value.
    missing: u32,
    /// Upper ends of bins.
    cuts: Option<Vec<f64>>,
    /// Known shift and scale; none to standardise by the rows at hand.
    scale: Option<PyUnits>,
    /// What a logarithmic scale adds before it takes logarithms; none for a linear one.
    log: Option<f64>,
    /// On a logarithmic scale the least number that is taken as it is: those below count as it.
    least: Option<f64>,
}

/// A plan that no longer needs the GIL.
struct Recipe {
    variable: Variable,
    column: Option<usize>,
    coding: Coding,
}

enum Coding {
    /// Numbers or their logarithms, with the affine map that follows, if it is known.
    Reals {
        log: Option<Log>,
        map: Option<Affine>,
    },
    Levels {
        codes: Vec<u32>,
        missing: u32,
    },
    Bins(Vec<f64>),
}

/// How logarithms are taken: of the number with so much added, of numbers below the least as of that one.
#[derive(Clone, Copy)]
struct Log {
    shift: f64,
    least: f64,
}

impl Log {
    /// NaN for a number that has none.
    fn of(self, x: f64) -> f64 {
        // Comparisons with NaN are false, so that it stays.
        logarithm(if x < self.least { self.least } else { x }, self.shift)
    }
}

impl Recipe {
    fn new(plan: &Plan<'_>) -> PyResult<Self> {
        let levels: Arc<[Level]> = match &plan.levels {
            Some(levels) => levels.iter().map(|level| level_from_python(&plan.name, level)).collect::<PyResult<_>>()?,
            None => Arc::new([]),
        };
        let kind = match plan.kind.as_str() {
            "categorical" => Kind::Categorical { levels },
            "ordinal" => Kind::Ordinal { levels },
            _ => Kind::Continuous { scale: Units::IDENTITY },
        };
        let coding = match (&plan.cuts, &plan.codes) {
            (Some(cuts), _) => Coding::Bins(cuts.clone()),
            (None, Some(codes)) => Coding::Levels { codes: codes.clone(), missing: plan.missing },
            (None, None) => {
                let known = plan.scale.map(Units::from);
                let shift = known.map_or(plan.log, |scale| scale.log);
                let log = shift.map(|shift| Log { shift, least: plan.least.unwrap_or(f64::NEG_INFINITY) });
                Coding::Reals { log, map: known.map(Units::affine) }
            }
        };
        let variable = Variable { name: plan.name.as_str().into(), kind };
        Ok(Self { variable, column: plan.column, coding })
    }

    fn n_levels(&self) -> usize {
        self.variable.n_levels().unwrap_or(0)
    }

    /// Clears rows without a value, and says how many there are.
    fn clear_missing(&self, raw: &RawColumn, keep: &mut [bool]) -> u64 {
        if let Coding::Levels { codes, missing } = &self.coding {
            return raw.levels().clear_missing(codes, *missing, keep);
        }
        let log = if let Coding::Reals { log, .. } = &self.coding { *log } else { None };
        if let Data::Numbers { profile, .. } = &raw.data
            && log.is_none_or(|log| profile.n_values() == 0 || !log.of(profile.minimum).is_nan())
            && profile.n_null + profile.n_nan == 0
        {
            return 0;
        }
        let mut rows = keep.iter_mut();
        let mut n = 0;
        raw.for_each_number(&mut |x| {
            if let Some(keep) = rows.next()
                && x.is_none_or(|x| log.is_some_and(|log| log.of(x).is_nan()))
            {
                *keep = false;
                n += 1;
            }
        });
        n
    }

    /// The kept rows, all of which have a value, with the variable as it turns out.
    fn encode(&self, raw: &RawColumn, kept: &Keep) -> Result<(Variable, Column), Error> {
        let mut variable = self.variable.clone();
        let column = match &self.coding {
            Coding::Levels { codes, missing } => {
                let keep = kept.mask.as_deref().map(Vec::as_slice);
                Column::Codes(raw.levels().encode(codes, *missing, self.n_levels(), keep))
            }
            Coding::Bins(cuts) => {
                let mut codes = Vec::with_capacity(kept.n_kept);
                kept.for_each_number(raw, &mut |x| codes.push(numbers::bin(cuts, x)));
                Column::Codes(Codes::pack(&codes, self.n_levels()))
            }
            Coding::Reals { log, map } => {
                let mut values = Vec::with_capacity(kept.n_kept);
                if kept.mask.is_some() || !raw.copy_numbers(&mut values) {
                    kept.for_each_number(raw, &mut |x| values.push(x));
                }
                take_logarithms(*log, &mut values);
                let map = if let Some(map) = map {
                    numbers::apply(*map, &mut values);
                    *map
                } else {
                    numbers::check_size(&values)
                        .map_err(|(problem, advice)| Error::column(&*variable.name, problem, advice))?;
                    numbers::standardise(&mut values, kept.weights())
                };
                variable.kind = Kind::Continuous { scale: Units { log: log.map(|log| log.shift), ..map.into() } };
                Column::Reals(values)
            }
        };
        Ok((variable, column))
    }

    /// Every row, with gaps.
    fn cells(&self, raw: &RawColumn) -> Cells {
        match &self.coding {
            Coding::Levels { codes, missing } => raw.levels().cells(codes, *missing),
            Coding::Bins(cuts) => {
                let mut codes = Vec::with_capacity(raw.n_rows());
                raw.for_each_number(&mut |x| codes.push(x.map_or(MISSING, |x| numbers::bin(cuts, x))));
                Cells::Codes(codes)
            }
            Coding::Reals { log, map } => {
                let mut values = Vec::with_capacity(raw.n_rows());
                raw.for_each_number(&mut |x| values.push(x.unwrap_or(f64::NAN)));
                take_logarithms(*log, &mut values);
                numbers::apply(map.unwrap_or(Affine::IDENTITY), &mut values);
                Cells::Reals(values)
            }
        }
    }
}

/// The logarithms of numbers, if that is asked for; NaN for those that have none.
fn take_logarithms(log: Option<Log>, values: &mut [f64]) {
    if let Some(log) = log {
        for x in values {
            *x = log.of(*x);
        }
    }
}

/// The rows of a frame that have a value in every used column.
#[pyclass(frozen, module = "arbornet._core")]
pub struct Keep {
    /// None if all rows are kept.
    mask: Option<Arc<Vec<bool>>>,
    #[pyo3(get)]
    n_kept: usize,
    /// For each plan, the number of rows without a value.
    #[pyo3(get)]
    n_missing: Vec<u64>,
    /// Rows with all values that weigh nothing: they are not kept.
    #[pyo3(get)]
    n_weightless: usize,
    /// Of the kept rows, as they are used.
    weights: Option<Arc<Vec<f64>>>,
    /// What the weights of the kept rows sum to as they were given, if there are some.
    #[pyo3(get)]
    given_weight: Option<f64>,
}

impl Keep {
    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref().map(Vec::as_slice)
    }

    fn for_each_number(&self, raw: &RawColumn, f: &mut impl FnMut(f64)) {
        let mut row = 0;
        raw.for_each_number(&mut |x| {
            if let Some(x) = x
                && self.mask.as_ref().is_none_or(|mask| mask[row])
            {
                f(x);
            }
            row += 1;
        });
    }
}

impl RawFrame {
    fn checked(&self, column: usize) -> PyResult<&RawColumn> {
        self.columns.get(column).ok_or_else(|| PyIndexError::new_err(format!("no column {column}")))
    }

    /// What is in a column, as far as one pass tells.
    fn profile<'py>(&self, py: Python<'py>, raw: &RawColumn) -> PyResult<Bound<'py, PyDict>> {
        let told = PyDict::new(py);
        told.set_item("class_", raw.class.name())?;
        told.set_item("ordered", raw.ordered)?;
        told.set_item("zone", if let Class::Datetime(zone) = &raw.class { zone.clone() } else { None })?;
        let nanoseconds = raw.class == Class::Duration(TimeUnit::Nanosecond);
        told.set_item("unit", nanoseconds.then_some("ns"))?;
        told.set_item("problem", if let Class::Unreadable(why) = &raw.class { Some(why) } else { None })?;
        let (n_missing, mut n_nan, mut n_distinct, mut counter, mut declared);
        (n_nan, n_distinct, counter, declared) = (0, None, false, false);
        let (mut range, mut infinite_row, mut whole) = (None, None, false);
        let (mut values, mut merged, mut alike, mut step) = (None, None, None, None);
        match &raw.data {
            Data::Nothing => n_missing = self.n_rows as u64,
            Data::Levels(levels) => {
                n_missing = levels.n_missing();
                declared = levels.is_declared();
                n_distinct = Some(levels.counts().iter().filter(|&&n| n > 0).count());
                if levels.values().len() <= SHOWN {
                    let all = levels.values().iter().map(|level| level_to_python(py, level));
                    values = Some((all.collect::<PyResult<Vec<_>>>()?, levels.counts().to_vec()));
                }
            }
            Data::Numbers { profile, counter: counts_rows, exact, .. } => {
                (n_missing, n_nan) = (profile.n_null, profile.n_nan);
                (infinite_row, whole, counter) = (profile.infinite_row, profile.whole, *counts_rows);
                step = profile.step;
                range = (profile.n_values() > 0).then_some((profile.minimum, profile.maximum));
                if let Some(distinct) = &profile.distinct {
                    n_distinct = Some(distinct.len());
                    let integer = raw.class == Class::Integer;
                    let all = distinct.iter().map(|&(x, _)| {
                        level_to_python(py, &if integer { Level::Int(x as i64) } else { Level::Real(x) })
                    });
                    values = Some((all.collect::<PyResult<Vec<_>>>()?, distinct.iter().map(|&(_, n)| n).collect()));
                }
                merged = exact.as_ref().and_then(|exact| exact.merged).map(|(a, b)| (a.to_string(), b.to_string()));
                alike = exact.as_ref().and_then(|exact| exact.alike);
                if let Some(distinct) = exact.as_ref().and_then(|exact| exact.distinct.as_ref()) {
                    n_distinct = Some(distinct.len());
                    let narrow =
                        |&(x, _): &(i256, u64)| x.to_i128().and_then(|x| i64::try_from(x).ok()).map(Level::Int);
                    if let Some(levels) = distinct.iter().map(narrow).collect::<Option<Vec<_>>>() {
                        let all = levels.iter().map(|level| level_to_python(py, level));
                        values = Some((all.collect::<PyResult<Vec<_>>>()?, distinct.iter().map(|&(_, n)| n).collect()));
                    }
                }
            }
        }
        told.set_item("n_null", n_missing)?;
        told.set_item("n_nan", n_nan)?;
        told.set_item("n_distinct", n_distinct)?;
        told.set_item("values", values)?;
        told.set_item("declared", declared)?;
        told.set_item("range_", range)?;
        told.set_item("infinite_row", infinite_row)?;
        told.set_item("whole", whole)?;
        told.set_item("counter", counter)?;
        told.set_item("step", step)?;
        let text = |(a, b, behind)| (decimal_text(a, behind), decimal_text(b, behind));
        let alike = alike.map(text);
        told.set_item("merged", if merged.is_some() && alike.is_some() { alike.clone() } else { merged })?;
        told.set_item("alike", alike)?;
        Ok(told)
    }
}

#[pymethods]
impl RawFrame {
    /// Reads any object with `__arrow_c_stream__`; only the wanted columns if they are named.
    #[staticmethod]
    #[pyo3(signature = (stream, wanted, n_jobs))]
    #[allow(clippy::needless_pass_by_value)]
    fn from_stream(
        py: Python<'_>,
        stream: &Bound<'_, PyAny>,
        wanted: Option<Vec<String>>,
        n_jobs: Jobs,
    ) -> PyResult<Self> {
        let (opened, pool, control) = (Opened::of(stream)?, pool(n_jobs)?, Arc::new(Control::default()));
        // On another thread also because a producer may be slow to give its next chunk, and may want the GIL for it.
        watched_or_left(py, &control.clone(), None, move || {
            let (n_rows, sources) = opened.read(wanted.as_deref(), &control)?;
            let make = |source| control.check().and_then(|()| RawColumn::new(source, n_rows));
            let columns = pool.install(|| sources.into_par_iter().map(make).collect::<Result<Vec<_>, Error>>())?;
            Ok::<_, CoreError>(Self { columns: Arc::new(columns), n_rows })
        })?
        .map_err(PyErr::from)
    }

    /// Takes columns of one length: arrays, objects, categories, or Arrow streams of one column.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)]
    fn from_columns(names: Vec<String>, payloads: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let mut columns = Vec::with_capacity(names.len());
        for (name, payload) in names.iter().zip(&payloads) {
            columns.push(column(name, payload)?);
        }
        let n_rows = columns.first().map_or(0, RawColumn::n_rows);
        if let Some(other) = columns.iter().find(|column| column.n_rows() != n_rows) {
            let problem = format!("has {} rows where '{}' has {n_rows}", other.n_rows(), names[0]);
            let advice = "all columns need one value per row";
            return Err(CoreError(Error::column(&*other.name, problem, advice)).into());
        }
        Ok(Self { columns: Arc::new(columns), n_rows })
    }

    /// Column names as they came.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Number of rows.
    #[getter]
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// What is in each column, as far as one pass tells.
    fn profiles<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.columns.iter().map(|raw| self.profile(py, raw)).collect()
    }

    /// All distinct values of a column in their order, and how often each occurs.
    fn levels<'py>(&self, py: Python<'py>, column: usize) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<u64>)> {
        self.checked(column)?;
        let columns = self.columns.clone();
        watched_or_left(py, &Control::default(), None, move || columns[column].levels().len())?;
        let levels = self.columns[column].levels();
        let values = levels.values().iter().map(|level| level_to_python(py, level)).collect::<PyResult<Vec<_>>>()?;
        Ok((values, levels.counts().to_vec()))
    }

    /// The first row that holds the value of this rank among a column's distinct values.
    fn first_row(&self, column: usize, rank: u32) -> PyResult<Option<usize>> {
        let levels = self.checked(column)?.levels();
        Ok((0..levels.len()).find(|&row| levels.rank(row) == rank))
    }

    /// The rows that have a value under every plan, and a weight if weights are given: one for each row of the frame.
    /// Those of a survey are scaled to the effective size of the kept rows.
    #[pyo3(signature = (plans, weights = None, survey = false))]
    #[allow(clippy::needless_pass_by_value)]
    fn keep(
        &self,
        py: Python<'_>,
        plans: Vec<Plan<'_>>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        survey: bool,
    ) -> PyResult<Keep> {
        let recipes = plans.iter().map(Recipe::new).collect::<PyResult<Vec<_>>>()?;
        let weights = weights.map(|weights| weights.as_array().to_vec());
        if let Some(weights) = &weights {
            if weights.len() != self.n_rows {
                let problem = format!("{} weights for {} rows; give one for each row", weights.len(), self.n_rows);
                return Err(CoreError(Error::Shape(problem)).into());
            }
            weights::check(weights).map_err(CoreError)?;
        }
        Ok(py.detach(|| {
            let mut mask = vec![true; self.n_rows];
            let mut n_missing = Vec::with_capacity(recipes.len());
            for recipe in &recipes {
                let raw = recipe.column.and_then(|column| self.columns.get(column));
                n_missing.push(raw.map_or(0, |raw| recipe.clear_missing(raw, &mut mask)));
            }
            let n_complete = mask.iter().filter(|&&keep| keep).count();
            let (mut n_kept, mut used, mut given_weight) = (n_complete, None, None);
            if let Some(weights) = &weights {
                mask.iter_mut().zip(weights).for_each(|(keep, &w)| *keep &= w > 0.0);
                let kept: Vec<f64> = weights.iter().zip(&mask).filter(|(_, keep)| **keep).map(|(&w, _)| w).collect();
                (n_kept, given_weight) = (kept.len(), Some(weights::sum(&kept)));
                let kept = if survey { weights::scaled_to_effective_size(&kept) } else { kept };
                used = Some(Arc::new(weights::rounded(kept)));
            }
            let mask = (n_kept < self.n_rows).then(|| Arc::new(mask));
            Keep { mask, n_kept, n_missing, n_weightless: n_complete - n_kept, weights: used, given_weight }
        }))
    }

    /// Upper ends of at most `k` bins of a column's numbers in the kept rows.
    fn cuts(&self, py: Python<'_>, column: usize, keep: &Keep, k: usize, equal_width: bool) -> PyResult<Vec<f64>> {
        let raw = self.checked(column)?;
        Ok(py.detach(|| {
            let mut values = Vec::with_capacity(keep.n_kept);
            keep.for_each_number(raw, &mut |x| values.push(x));
            match keep.weights() {
                None => numbers::cuts(&mut values, k, equal_width),
                Some(weights) => numbers::weighted_cuts(&values, weights, k, equal_width),
            }
        }))
    }

    /// What a logarithmic scale has to add to a column's numbers in the kept rows.
    fn log_shift(&self, py: Python<'_>, column: usize, keep: &Keep) -> PyResult<f64> {
        let raw = self.checked(column)?;
        Ok(py.detach(|| {
            let mut values = Vec::with_capacity(keep.n_kept);
            keep.for_each_number(raw, &mut |x| values.push(x));
            log_shift(values.into_iter())
        }))
    }

    /// The kept rows as a table, one variable per plan.
    #[allow(clippy::needless_pass_by_value)]
    fn table(&self, py: Python<'_>, plans: Vec<Plan<'_>>, keep: &Keep, n_jobs: Jobs) -> PyResult<TableHandle> {
        let recipes = plans.iter().map(Recipe::new).collect::<PyResult<Vec<_>>>()?;
        for recipe in &recipes {
            self.checked(recipe.column.unwrap_or(usize::MAX))?;
        }
        let pool = pool(n_jobs)?;
        let control = Control::default();
        let table = watched(py, &control, None, || {
            let encode = |recipe: &Recipe| {
                control.check()?;
                recipe.encode(&self.columns[recipe.column.unwrap_or(0)], keep)
            };
            let (variables, columns): (Vec<_>, Vec<_>) =
                pool.install(|| recipes.par_iter().map(encode).collect::<Result<Vec<_>, Error>>())?.into_iter().unzip();
            let table = Table::new(variables, columns)?;
            match keep.weights() {
                None => Ok(table),
                Some(weights) => table.weighted(weights.to_vec()),
            }
        })?;
        Ok(TableHandle(Arc::new(table.map_err(CoreError)?)))
    }

    /// All rows, coded as the plans say, with what is missing left missing.
    #[allow(clippy::needless_pass_by_value)]
    fn rows(&self, py: Python<'_>, plans: Vec<Plan<'_>>, n_jobs: Jobs) -> PyResult<RowsHandle> {
        let recipes = plans.iter().map(Recipe::new).collect::<PyResult<Vec<_>>>()?;
        let pool = pool(n_jobs)?;
        let control = Control::default();
        let columns = watched(py, &control, None, || {
            let cells = |recipe: &Recipe| {
                control.check()?;
                Ok(recipe
                    .column
                    .and_then(|column| self.columns.get(column))
                    .map_or(Cells::Absent, |raw| recipe.cells(raw)))
            };
            pool.install(|| recipes.par_iter().map(cells).collect::<Result<Vec<_>, Error>>())
        })?;
        Ok(RowsHandle(Arc::new(Rows::new(self.n_rows, columns.map_err(CoreError)?))))
    }

    fn __repr__(&self) -> String {
        format!("RawFrame({} rows, {} columns)", self.n_rows, self.columns.len())
    }
}

/// Rows coded as a table's, some values possibly missing.
#[pyclass(frozen, module = "arbornet._core")]
pub struct RowsHandle(pub Arc<Rows>);

#[pymethods]
impl RowsHandle {
    /// Rows of coded columns: numbers in stored units (NaN where missing), codes (4294967295 where missing), or None.
    #[staticmethod]
    #[allow(clippy::needless_pass_by_value)] // the shapes pyo3 extracts
    fn from_cells(columns: Vec<Option<Bound<'_, PyAny>>>, n_rows: usize) -> PyResult<Self> {
        let cells = |column: &Option<Bound<'_, PyAny>>| -> PyResult<Cells> {
            let Some(values) = column else { return Ok(Cells::Absent) };
            let (cells, len) = if let Ok(reals) = values.extract::<PyReadonlyArray1<'_, f64>>() {
                (Cells::Reals(reals.as_array().to_vec()), reals.as_array().len())
            } else {
                let codes: PyReadonlyArray1<'_, u32> = values.extract()?;
                (Cells::Codes(codes.as_array().to_vec()), codes.as_array().len())
            };
            if len == n_rows {
                return Ok(cells);
            }
            Err(CoreError(Error::Shape(format!("a column of {len} cells for {n_rows} rows"))).into())
        };
        let columns = columns.iter().map(cells).collect::<PyResult<Vec<_>>>()?;
        Ok(Self(Arc::new(Rows::new(n_rows, columns))))
    }

    /// Number of rows.
    #[getter]
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    /// True if the frame had a column of some variable.
    #[getter]
    fn has_columns(&self) -> bool {
        self.0.columns().iter().any(|cells| !matches!(cells, Cells::Absent))
    }

    /// A copy of one variable's cells: numbers in stored units (NaN where missing), codes (4294967295 where missing),
    /// or None if the frame had no such column.
    fn column<'py>(&self, py: Python<'py>, var: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(cells) = self.0.columns().get(var) else {
            return Err(PyIndexError::new_err(format!("no variable {var}")));
        };
        Ok(match cells {
            Cells::Absent => None,
            Cells::Reals(values) => Some(values.clone().into_pyarray(py).into_any()),
            Cells::Codes(codes) => Some(codes.clone().into_pyarray(py).into_any()),
        })
    }

    fn __repr__(&self) -> String {
        format!("RowsHandle({} rows, {} variables)", self.0.n_rows(), self.0.columns().len())
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MISSING", MISSING)?;
    module.add_class::<RawFrame>()?;
    module.add_class::<Keep>()?;
    module.add_class::<RowsHandle>()
}
