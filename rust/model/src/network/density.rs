//! Log densities of rows, node by node: the product form of section 2.4, in the user's units.
//!
//! Rows are cut into blocks of fixed size, so that sums and their last bits do not depend on the number of threads.

use rayon::prelude::*;
use smallvec::SmallVec;

use super::sample::no_room;
use super::{Evidence, Network};
use crate::control::Control;
use crate::error::Result;
use crate::memory::filled;
use crate::predictive::Value;
use crate::table::{Kind, Units, Var};

/// Rows a task works on at a time.
pub(super) const BLOCK: usize = 1024;

/// What turns the log density of a variable's value in stored units into one in the user's.
pub(super) fn log_jacobian(scale: &Units, value: Option<Value>) -> f64 {
    match value {
        Some(Value::Real(x)) => scale.log_jacobian(x),
        _ => 0.0,
    }
}

impl Network {
    /// Log density of one node in one row, in stored units; `None` if a value of its family is missing.
    pub(super) fn log_density_at(&self, var: Var, rows: &Evidence<'_>, row: usize) -> Option<f64> {
        let value = rows.get(var, row)?;
        let model = self.model(var);
        let parents = model.parents().iter().map(|&p| rows.get(p, row)).collect::<Option<SmallVec<[Value; 8]>>>()?;
        Some(model.predictive(&parents).log_density(value))
    }

    /// A variable's way back to the user's units; nothing changes the codes of levels.
    pub(super) fn scale(&self, var: Var) -> &Units {
        match &self.variables[var].kind {
            Kind::Continuous { scale } => scale,
            _ => &Units::IDENTITY,
        }
    }

    /// Log density of every node in every row, given its parents' values, in the user's units: one vector per
    /// variable. NaN where a value of the family is missing.
    ///
    /// # Errors
    /// If interrupted.
    pub fn log_densities(&self, rows: &Evidence<'_>, control: &Control) -> Result<Vec<Vec<f64>>> {
        let n = rows.n_rows();
        let room = |_: Var| filled(0.0, n, |bytes| no_room(bytes.saturating_mul(self.n_vars() as u64)));
        let mut columns = (0..self.n_vars()).map(room).collect::<Result<Vec<Vec<f64>>>>()?;
        for (v, column) in columns.iter_mut().enumerate() {
            let scale = self.scale(v);
            column.par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, out)| {
                control.check()?;
                for (i, slot) in out.iter_mut().enumerate() {
                    let row = block * BLOCK + i;
                    let density = self.log_density_at(v, rows, row);
                    *slot = density.map_or(f64::NAN, |d| d + log_jacobian(scale, rows.get(v, row)));
                }
                Ok(())
            })?;
        }
        Ok(columns)
    }
}
