//! Variable elimination on dense tables: the order by minimum fill, then one pass of multiply-and-sum per variable.
//!
//! A plan is made once for a pattern of evidence and holds the offset of every entry it will read, so that a row costs
//! gathers, products and sums. Tables are rescaled to a maximum of one after every step; the logarithms add up apart.

/// One variable marginalised out of the tables that hold it (or, with one state, the tables multiplied into the answer).
#[derive(Debug)]
pub(super) struct Step {
    /// The variable that goes, `None` for the last step.
    pub var: Option<usize>,
    /// The variables that stay, and the number of states of each; the last varies fastest.
    pub out: Vec<usize>,
    pub dims: Vec<usize>,
    /// Number of states summed over.
    pub states: usize,
    size: usize,
    inputs: Vec<Input>,
}

#[derive(Debug)]
struct Input {
    table: usize,
    /// Where in the input the first state of the eliminated variable stands, for every entry of the output.
    offsets: Vec<u32>,
    stride: usize,
}

/// An order of elimination with everything about it that does not depend on the numbers.
#[derive(Debug)]
pub(super) struct Elimination {
    pub steps: Vec<Step>,
}

/// A table's variables with the distance in it between successive states of each.
struct Layout {
    vars: Vec<usize>,
    strides: Vec<usize>,
}

impl Layout {
    fn row_major(vars: Vec<usize>, dims: &[usize]) -> Self {
        let mut strides = vec![1; vars.len()];
        for i in (1..vars.len()).rev() {
            strides[i - 1] = strides[i] * dims[vars[i]];
        }
        Self { vars, strides }
    }

    fn stride(&self, var: usize) -> usize {
        self.vars.iter().position(|&v| v == var).map_or(0, |i| self.strides[i])
    }
}

impl Elimination {
    /// How many offsets it holds.
    pub fn size(&self) -> usize {
        self.steps.iter().flat_map(|step| &step.inputs).map(|input| input.offsets.len()).sum()
    }

    /// Plans to leave only `keep` (in that order) of variables with `dims` states, starting from `factors`, each a list
    /// of variables in the order of its table's axes.
    ///
    /// # Errors
    /// The number of products needed, if it is above `limit`.
    pub fn plan(dims: &[usize], factors: &[Vec<usize>], keep: &[usize], limit: f64) -> Result<Self, f64> {
        let order = elimination_order(dims, factors, keep);
        let mut layouts: Vec<Layout> = factors.iter().map(|vars| Layout::row_major(vars.clone(), dims)).collect();
        let mut live: Vec<bool> = vec![true; layouts.len()];
        let mut steps = Vec::with_capacity(order.len() + 1);
        let mut cost = 0.0;
        for var in order.into_iter().map(Some).chain([None]) {
            let takes = |layout: &Layout| var.is_none_or(|var| layout.vars.contains(&var));
            let inputs: Vec<usize> = (0..layouts.len()).filter(|&t| live[t] && takes(&layouts[t])).collect();
            let out: Vec<usize> = if var.is_some() {
                let mut out: Vec<usize> = inputs.iter().flat_map(|&t| layouts[t].vars.iter().copied()).collect();
                out.sort_unstable();
                out.dedup();
                out.retain(|&v| Some(v) != var);
                out
            } else {
                keep.to_vec()
            };
            let states = var.map_or(1, |v| dims[v]);
            let size: f64 = out.iter().map(|&v| dims[v] as f64).product();
            cost += size * states as f64 * inputs.len().max(1) as f64;
            if cost > limit {
                return Err(cost);
            }
            let out_dims: Vec<usize> = out.iter().map(|&v| dims[v]).collect();
            let inputs = inputs
                .into_iter()
                .map(|table| {
                    live[table] = false;
                    let layout = &layouts[table];
                    let strides: Vec<usize> = out.iter().map(|&v| layout.stride(v)).collect();
                    Input { table, offsets: offsets(&out_dims, &strides), stride: var.map_or(0, |v| layout.stride(v)) }
                })
                .collect();
            layouts.push(Layout::row_major(out.clone(), dims));
            live.push(true);
            steps.push(Step { var, out, dims: out_dims, states, size: size as usize, inputs });
        }
        Ok(Self { steps })
    }

    /// Eliminates: every step's table is appended to the factors' tables, the answer is the last. Gives the logarithm
    /// of what the answer must be multiplied by; negative infinity if everything is zero.
    pub fn run(&self, tables: &mut Vec<Vec<f64>>) -> f64 {
        let mut log_scale = 0.0;
        for step in &self.steps {
            let mut out = step.multiply_and_sum(tables);
            log_scale += rescale(&mut out);
            tables.push(out);
        }
        log_scale
    }
}

impl Step {
    fn multiply_and_sum(&self, tables: &[Vec<f64>]) -> Vec<f64> {
        let at = |input: &Input, i: usize, s: usize| tables[input.table][input.offsets[i] as usize + s * input.stride];
        let entry =
            |i| (0..self.states).map(|s| self.inputs.iter().map(|input| at(input, i, s)).product::<f64>()).sum();
        (0..self.size).map(entry).collect()
    }

    /// The unnormalised probabilities of the eliminated variable's states given those of the variables that stay.
    pub fn conditional(&self, tables: &[Vec<f64>], states: &[usize], out: &mut Vec<f64>) {
        let i = self.out.iter().zip(&self.dims).fold(0, |i, (&v, dim)| i * dim + states[v]);
        let of = |input: &Input, s: usize| tables[input.table][input.offsets[i] as usize + s * input.stride];
        out.clear();
        out.extend((0..self.states).map(|s| self.inputs.iter().map(|input| of(input, s)).product::<f64>()));
    }
}

/// Divides by the largest entry and gives its logarithm.
pub(super) fn rescale(values: &mut [f64]) -> f64 {
    let max = values.iter().copied().fold(0.0, f64::max);
    if max > 0.0 {
        for x in values {
            *x /= max;
        }
    }
    max.ln()
}

fn offsets(dims: &[usize], strides: &[usize]) -> Vec<u32> {
    let size = dims.iter().product();
    let mut digits = vec![0; dims.len()];
    let mut offset = 0;
    let mut offsets = Vec::with_capacity(size);
    for _ in 0..size {
        offsets.push(offset as u32);
        for d in (0..dims.len()).rev() {
            digits[d] += 1;
            offset += strides[d];
            if digits[d] < dims[d] {
                break;
            }
            offset -= strides[d] * dims[d];
            digits[d] = 0;
        }
    }
    offsets
}

/// A set of small integers.
#[derive(Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(n: usize) -> Self {
        Self(vec![0; n.div_ceil(64)])
    }

    fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn remove(&mut self, i: usize) {
        self.0[i / 64] &= !(1 << (i % 64));
    }

    fn contains(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    fn to_vec(&self) -> Vec<usize> {
        let mut out = Vec::new();
        for (w, &word) in self.0.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                out.push(w * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
        out
    }
}

/// The variable that joins the fewest pairs of strangers goes first; ties to the smaller table, then position.
fn elimination_order(dims: &[usize], factors: &[Vec<usize>], keep: &[usize]) -> Vec<usize> {
    let n = dims.len();
    let mut near = vec![Bits::new(n); n];
    for factor in factors {
        for &a in factor {
            factor.iter().filter(|&&b| b != a).for_each(|&b| near[a].insert(b));
        }
    }
    let price = |near: &[Bits], v: usize| {
        let around = near[v].to_vec();
        let joined = |i: usize| around[..i].iter().filter(|&&a| !near[around[i]].contains(a)).count();
        let fill: usize = (0..around.len()).map(joined).sum();
        (fill, around.iter().map(|&a| dims[a] as f64).product::<f64>())
    };
    let mut waiting: Vec<usize> = (0..n).filter(|v| !keep.contains(v)).collect();
    let mut prices: Vec<(usize, f64)> = (0..n).map(|v| price(&near, v)).collect();
    let mut order = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let cheapest = (0..waiting.len())
            .min_by(|&i, &j| {
                let (a, b) = (prices[waiting[i]], prices[waiting[j]]);
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(waiting[i].cmp(&waiting[j]))
            })
            .expect("some variable waits");
        let v = waiting.swap_remove(cheapest);
        order.push(v);
        let around = near[v].to_vec();
        let mut stale = Bits::new(n);
        for &a in &around {
            near[a].remove(v);
            around.iter().filter(|&&b| b != a).for_each(|&b| near[a].insert(b));
        }
        for &a in &around {
            stale.insert(a);
            near[a].to_vec().into_iter().for_each(|b| stale.insert(b));
        }
        stale.to_vec().into_iter().for_each(|a| prices[a] = price(&near, a));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_eliminated_by_hand() {
        // p(a), p(b | a): the marginal of b.
        let plan = Elimination::plan(&[2, 3], &[vec![0], vec![0, 1]], &[1], 1e6).unwrap();
        let mut tables = vec![vec![0.25, 0.75], vec![0.2, 0.3, 0.5, 0.0, 0.4, 0.6]];
        let scale = plan.run(&mut tables).exp();
        let answer: Vec<f64> = tables.last().unwrap().iter().map(|p| p * scale).collect();
        for (got, hand) in answer.iter().zip([0.05, 0.375, 0.575]) {
            assert!((got - hand).abs() < 1e-15);
        }
    }

    #[test]
    fn the_answer_has_the_axes_asked_for() {
        let plan = Elimination::plan(&[2, 3], &[vec![0, 1]], &[1, 0], 1e6).unwrap();
        let mut tables = vec![vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]];
        let scale = plan.run(&mut tables).exp();
        assert_eq!(tables[1].iter().map(|x| (x * scale).round()).collect::<Vec<_>>(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }

    #[test]
    fn a_plan_beyond_its_limit_says_its_cost() {
        let wide: Vec<usize> = (0..8).collect();
        let cost = Elimination::plan(&[10; 8], &[wide], &[0], 1e6).unwrap_err();
        assert!(cost > 1e6);
    }

    #[test]
    fn zero_everywhere_has_a_logarithm_of_minus_infinity() {
        let plan = Elimination::plan(&[2], &[vec![0], vec![0]], &[], 1e6).unwrap();
        assert_eq!(plan.run(&mut vec![vec![0.0, 1.0], vec![1.0, 0.0]]), f64::NEG_INFINITY);
    }
}
