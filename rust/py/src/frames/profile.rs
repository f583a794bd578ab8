//! What Python is told of a raw column, for its type to be inferred.

use arbornet_core::Level;
use arbornet_core::frame::RawValues;
use arrow_buffer::i256;
use arrow_schema::TimeUnit;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::column::{Data, RawColumn, SHOWN};
use super::exact::decimal_text;
use super::values::Class;
use crate::handles::level_to_python;

/// What is in a column, as far as one pass tells.
pub fn profile<'py>(py: Python<'py>, raw: &RawColumn) -> PyResult<Bound<'py, PyDict>> {
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
        Data::Nothing => n_missing = raw.n_rows() as u64,
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
                let all = distinct
                    .iter()
                    .map(|&(x, _)| level_to_python(py, &if integer { Level::Int(x as i64) } else { Level::Real(x) }));
                values = Some((all.collect::<PyResult<Vec<_>>>()?, distinct.iter().map(|&(_, n)| n).collect()));
            }
            merged = exact.as_ref().and_then(|exact| exact.merged).map(|(a, b)| (a.to_string(), b.to_string()));
            alike = exact.as_ref().and_then(|exact| exact.alike);
            if let Some(distinct) = exact.as_ref().and_then(|exact| exact.distinct.as_ref()) {
                n_distinct = Some(distinct.len());
                let narrow = |&(x, _): &(i256, u64)| x.to_i128().and_then(|x| i64::try_from(x).ok()).map(Level::Int);
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
