//! The best tree itself, by trying the splits of its cells again.

use super::super::key::{Layout, Split, ones};
use super::super::memo::Ended;
use super::super::response::Response;
use super::super::trace::{Choice, Left, Trace, Traced};
use super::{ROUNDING, Search};

impl<R: Response> Search<R> {
    /// The best tree in preorder, after `best`.
    ///
    /// # Errors
    /// As `best`.
    pub fn trace(&mut self, layout: &Layout) -> Result<Vec<Traced<R::Sum>>, Ended> {
        let mut trace = Trace::default();
        self.tolerance = ROUNDING * (1.0 + self.log_gamma.abs() + self.points.len() as f64);
        self.trace_cell(0, self.points.len(), layout.root & !layout.levels_mask, &mut trace);
        self.tolerance = 0.0;
        self.ended.map_or(Ok(trace.finish()), Err)
    }

    fn trace_cell(&mut self, lo: usize, hi: usize, intervals: u64, trace: &mut Trace<R::Sum>) {
        let mut all = self.total(lo, hi);
        all.leaf = self.response.worth(&all.sum).leaf;
        let levels = all.or & self.levels_mask;
        let choice = match &self.axes {
            _ if hi - lo < 2 => None,
            Some(axes) => self.choice_in_lattice(axes, &all, intervals),
            None => self.visit(lo, hi, all.clone(), Some(self.tops_of(intervals))).1,
        };
        let Some(choice) = choice else {
            trace.leaf(all.sum);
            return;
        };
        let field = self.fields[choice.field];
        let rest = intervals & !field.cell_mask();
        if choice.jumps > 0 {
            // All rows are on one side of the midpoint; the other side is a leaf without rows.
            let interval = intervals >> field.shift & ones(field.size + 1);
            let bit = field.shift + field.size - 1 - interval.ilog2();
            let side = self.points[lo].key >> bit & 1;
            let inner = rest | (2 * interval + side) << field.shift;
            let jump = Choice { right: 1 << bit, ..choice };
            let split = trace.split(choice.field, Left::of(&field, jump, intervals, levels));
            if side == 1 {
                trace.leaf(self.response.zero());
                trace.turn_right(split);
            }
            self.trace_cell(lo, hi, inner, trace);
            if side == 0 {
                trace.turn_right(split);
                trace.leaf(self.response.zero());
            }
            return;
        }
        let split = trace.split(choice.field, Left::of(&field, choice, intervals, levels));
        let middle = self.partition(lo, hi, choice.right);
        let half = |side: u64| match field.split {
            Split::Halving => rest | (2 * (intervals >> field.shift & ones(field.size + 1)) + side) << field.shift,
            _ => intervals,
        };
        self.trace_cell(lo, middle, half(0), trace);
        trace.turn_right(split);
        self.trace_cell(middle, hi, half(1), trace);
    }
}
