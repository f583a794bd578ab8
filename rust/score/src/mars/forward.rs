//! The forward pass: in every step the parent terms at the head of the queue are tried with every predictor not in them,
//! and the best pair of hinges (or line) joins the basis.

use super::candidate::{Candidate, Column, Gains, Rule};
use super::linear::{Triangle, add, dot};
use super::predictor::Predictor;
use super::queue::Queue;
use super::spans::Spans;
use super::{Factor, Problem, Settings, Shape, Term, gcv};
use crate::control::Halt;
use crate::error::Result;

/// A line is explained by the basis if so little of its square is left, of the parent term's.
const EXPLAINED: f64 = 1e-5;
/// Earth's threshold for that: absolute, in the predictor's units.
const EARTH_EXPLAINED: f64 = 0.01;
/// A new column is dependent if so little of its square is left.
const DEPENDENT: f64 = 1e-14;

/// A slot for a term.
struct Slot {
    term: Term,
    /// Its value in every row, times the root of the weight; empty if the slot has no term of its own.
    column: Vec<f64>,
    /// By how much the term in given units exceeds the column.
    scale: f64,
}

pub struct Forward<'a> {
    problem: &'a Problem<'a>,
    settings: &'a Settings,
    halt: &'a Halt,
    slots: Vec<Slot>,
    basis: Vec<Column>,
    /// Per used term: its slot, and its coordinates in the basis.
    used: Vec<(usize, Vec<f64>)>,
    residuals: Vec<Vec<f64>>,
    /// By slot and predictor.
    candidates: Vec<Vec<Option<Made>>>,
    rss: f64,
}

/// A candidate, and the number of columns that the basis had when it was made.
type Made = (Box<Candidate>, usize);

/// The best candidate of a step.
struct Choice {
    slot: usize,
    predictor: usize,
    /// `None` for the line.
    knot: Option<f64>,
    /// Whether both hinges join.
    pair: bool,
    gain: f64,
}

impl<'a> Forward<'a> {
    /// The intercept alone.
    pub fn new(problem: &'a Problem<'a>, settings: &'a Settings, halt: &'a Halt) -> Self {
        let n_rows = problem.responses.first().map_or(0, Vec::len);
        let roots = |weights: &[f64]| weights.iter().map(|w| w.sqrt()).collect();
        let intercept = problem.weights.as_deref().map_or_else(|| vec![1.0; n_rows], roots);
        let mut made = Self {
            problem,
            settings,
            halt,
            slots: vec![],
            basis: vec![],
            used: vec![],
            residuals: problem.responses.clone(),
            candidates: vec![],
            rss: 0.0,
        };
        made.add(vec![], intercept, 1.0);
        made.rss = made.residuals.iter().map(|y| dot(y, y)).sum();
        made
    }

    /// Takes steps until nothing is left to gain.
    ///
    /// # Errors
    /// If asked to stop.
    pub fn run(&mut self) -> Result<()> {
        let (n, penalty) = (self.problem.n, self.settings.penalty);
        let n_slots = self.settings.n_slots(self.problem.predictors.len());
        let null = self.rss + self.problem.within;
        if null <= 1e-10 * n || n_slots < 3 || self.residuals.first().is_none_or(|y| y.len() < 2) {
            return Ok(());
        }
        let gcv_null = gcv(null, 1, n, penalty);
        let mut queue = Queue::new(self.settings.ageing, self.settings.earth);
        queue.push(0, null, 1);
        queue.sort(1);
        let (mut rss, mut last, mut n_terms) = (null, null, 1);
        loop {
            let most = (1.01 * rss).min(10.0 * last);
            let Some(choice) = self.best(&mut queue, most)? else { return Ok(()) };
            last = choice.gain;
            rss = (rss - choice.gain).max(0.0);
            let two = choice.knot.is_some() && choice.pair;
            n_terms += if two { 2 } else { 1 };
            let gains = choice.gain / null >= self.settings.threshold;
            let worth = 1.0 - gcv(rss, n_terms, n, penalty) / gcv_null >= -10.0;
            if !gains || !worth {
                return Ok(());
            }
            let first = self.slots.len();
            self.take(&choice);
            queue.push(first, f64::INFINITY, first);
            if two {
                queue.push(first + 1, f64::INFINITY, first);
            }
            queue.sort(first);
            if rss <= self.settings.threshold * null || self.slots.len() + 1 >= n_slots {
                return Ok(());
            }
        }
    }

    /// The terms (with what the columns were scaled by), and the triangle of their columns.
    pub fn finish(self) -> (Vec<(Term, f64)>, Triangle) {
        let n_responses = self.problem.responses.len();
        let responses = (0..n_responses).map(|k| self.basis.iter().map(|c| c.theta[k]).collect()).collect();
        let rss = self.residuals.iter().map(|y| dot(y, y)).sum::<f64>() + self.problem.within;
        let mut terms = vec![];
        let mut columns = vec![];
        let mut slots: Vec<Option<Slot>> = self.slots.into_iter().map(Some).collect();
        for (slot, column) in self.used {
            let slot = slots[slot].take().expect("each slot is used once");
            terms.push((slot.term, slot.scale));
            columns.push(column);
        }
        (terms, Triangle { columns, responses, rss })
    }

    fn best(&mut self, queue: &mut Queue, most: f64) -> Result<Option<Choice>> {
        let mut best: Option<Choice> = None;
        let tie = self.settings.tie * self.rss;
        let taken = self.slots.len();
        for (entry, slot) in queue.first(self.settings.fast) {
            if slot >= self.slots.len() || self.slots[slot].column.is_empty() {
                continue;
            }
            let degree = self.slots[slot].term.len();
            if degree >= self.settings.degree {
                continue;
            }
            let mut gained: f64 = -1.0;
            for predictor in 0..self.problem.predictors.len() {
                if self.slots[slot].term.iter().any(|factor| factor.predictor == predictor) {
                    continue;
                }
                self.halt.check()?;
                let gains = self.gains(slot, predictor, most);
                let gain = gains.knot.map_or(gains.line, |knot| knot.1);
                gained = gained.max(gain);
                if gain > best.as_ref().map_or(0.0, |best| best.gain + tie) {
                    let knot = gains.knot.map(|knot| knot.0);
                    best = Some(Choice { slot, predictor, knot, pair: gains.independent, gain });
                }
            }
            // Ties stay ties in the queue: terms that gain alike are looked at in their order.
            queue.update(entry, if tie > 0.0 { (gained / tie).round() * tie } else { gained }, taken);
        }
        Ok(best)
    }

    fn gains(&mut self, slot: usize, predictor: usize, most: f64) -> Gains {
        let taken = self.slots.len();
        let (settings, n_predictors) = (self.settings, self.problem.predictors.len());
        let parent = &self.slots[slot];
        let x = self.problem.predictors[predictor];
        let place = &mut self.candidates[slot][predictor];
        let (candidate, made_at) = place.get_or_insert_with(|| {
            let made = match x {
                Predictor::Indicator(rows) => Candidate::indicator(rows, &parent.column, &self.residuals),
                Predictor::Number(number) => {
                    let weights = self.problem.weights.as_deref();
                    let active = parent.column.iter().enumerate().filter(|(_, b)| **b > 0.0);
                    let active = match weights {
                        None => active.count(),
                        Some(weights) => active.map(|(row, _)| weights[row]).sum::<f64>().round() as usize,
                    };
                    let n_rows = weights.map_or(number.z.len(), |_| self.problem.n.round() as usize);
                    let spans = Spans::new(n_rows, active, n_predictors, parent.term.len() + 1);
                    let parent = &parent.column;
                    Candidate::number(number, parent, weights, spans, &self.residuals, settings.earth)
                }
            };
            (Box::new(made), self.basis.len())
        });
        candidate.update(&self.basis, *made_at);
        let independent = if settings.earth {
            let unit = if let Predictor::Number(number) = x { number.squared_unit } else { 1.0 };
            let units: f64 = parent.term.iter().map(|f| self.problem.predictors[f.predictor].squared_unit()).product();
            candidate.line_left() * units * unit > EARTH_EXPLAINED && self.new_form(slot, predictor)
        } else {
            candidate.independent(EXPLAINED)
        };
        // In small models knots near each other would be taken for rounding's sake; in large ones there is room.
        let tolerance = if taken + usize::from(independent) < 15 { 0.01 } else { 1e-5 };
        let candidate = &self.candidates[slot][predictor].as_ref().expect("it was just made").0;
        candidate.gains(independent, Rule { tolerance, most, tie: settings.tie * self.rss })
    }

    /// Earth's other test: whether some term in use lacks the predictor, or has other predictors beside it.
    fn new_form(&self, slot: usize, predictor: usize) -> bool {
        let has = |term: &Term, p: usize| term.iter().any(|factor| factor.predictor == p);
        let parent = &self.slots[slot].term;
        let mut used = self.used.iter().skip(1).map(|(slot, _)| &self.slots[*slot].term).peekable();
        used.peek().is_none()
            || used.any(|term| {
                let others = (0..self.problem.predictors.len()).filter(|&p| p != predictor);
                !has(term, predictor) || others.into_iter().any(|p| has(term, p) != has(parent, p))
            })
    }

    /// Takes two slots, and fills one or both.
    fn take(&mut self, choice: &Choice) {
        let parent = &self.slots[choice.slot];
        let x = self.problem.predictors[choice.predictor];
        let scale = parent.scale * x.scale();
        let with = |shape: Shape| {
            let mut term = parent.term.clone();
            term.push(Factor { predictor: choice.predictor, shape });
            term
        };
        let times = |factor: &dyn Fn(usize) -> f64| -> Vec<f64> {
            parent.column.iter().enumerate().map(|(row, b)| if *b == 0.0 { 0.0 } else { b * factor(row) }).collect()
        };
        match (x, choice.knot) {
            (Predictor::Number(number), Some(t)) => {
                let (up, down) = (with(number.hinge(t, true)), with(number.hinge(t, false)));
                let above = times(&|row| (number.z[row] - t).max(0.0));
                let below = times(&|row| (t - number.z[row]).max(0.0));
                self.add(up, above, scale);
                if choice.pair { self.add(down, below, scale) } else { self.skip() }
            }
            (Predictor::Number(number), None) => {
                let (term, column) = (with(number.line()), times(&|row| number.z[row] + number.offset));
                self.add(term, column, scale);
                self.skip();
            }
            (Predictor::Indicator(rows), _) => {
                let mut column = vec![0.0; parent.column.len()];
                for &row in rows {
                    column[row as usize] = parent.column[row as usize];
                }
                let term = with(Shape::Holds);
                self.add(term, column, scale);
                self.skip();
            }
        }
    }

    /// Leaves a slot empty.
    fn skip(&mut self) {
        self.slots.push(Slot { term: vec![], column: vec![], scale: 1.0 });
        self.candidates.push(vec![]);
    }

    /// A term joins: its slot, and its column of the basis unless the others explain it.
    fn add(&mut self, term: Term, column: Vec<f64>, scale: f64) {
        let mut q = column.clone();
        let mut coordinates = vec![0.0; self.basis.len()];
        let whole = dot(&q, &q);
        let mut square = whole;
        // Modified Gram-Schmidt, once more where cancellation was heavy.
        for _ in 0..2 {
            for (coordinate, other) in coordinates.iter_mut().zip(&self.basis) {
                let product = dot(&other.q, &q);
                *coordinate += product;
                add(&mut q, -product, &other.q);
            }
            let left = dot(&q, &q);
            let heavy = left < 0.1 * square;
            square = left;
            if !heavy {
                break;
            }
        }
        if square > DEPENDENT * whole {
            let length = square.sqrt();
            for value in &mut q {
                *value /= length;
            }
            coordinates.push(length);
            let mut theta = Vec::with_capacity(self.residuals.len());
            for y in &mut self.residuals {
                let product = dot(&q, y);
                add(y, -product, &q);
                theta.push(product);
            }
            self.basis.push(Column { q, theta });
            self.used.push((self.slots.len(), coordinates));
        }
        self.slots.push(Slot { term, column, scale });
        self.candidates.push((0..self.problem.predictors.len()).map(|_| None).collect());
    }
}

impl Predictor {
    fn squared_unit(&self) -> f64 {
        match self {
            Self::Number(number) => number.squared_unit,
            Self::Indicator(_) => 1.0,
        }
    }
}
