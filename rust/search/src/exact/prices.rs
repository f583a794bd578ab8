//! The root's prices of cuts, laid out for bounding many states.
//!
//! A cut with a placed variable is satisfied or lost either way: it is dead, its price counts no more. So a set's
//! reduced cost in a state is its reduced cost at the root plus the prices of the dead clusters that it satisfies, or
//! its cost less those of the living ones; whichever are fewer are summed. (A set may be worth more than one price to a
//! cut: such a cut counts as several, that die together.) Both also say what need not be looked at: no
//! reduced cost is below the root's, nor below the cost less all that lives.

use crate::exact::bits::Bits;
use crate::exact::cut::Cut;
use crate::exact::dual::Dual;
use crate::exact::problem::{Columns, NEVER, Problem};

/// Priced clusters and what they are worth to every set.
pub struct Prices<const W: usize> {
    /// Per cut, its price times what it needs.
    each: Vec<i64>,
    /// Per variable, the cuts that have it.
    having: Vec<Vec<u64>>,
    /// Per cut, its variables and its places among the cuts of each.
    members: Vec<Vec<(u32, u32)>>,
    of: Vec<Own>,
}

/// The cuts that have one variable, and its sets (in the problem's order).
struct Own {
    each: Vec<i64>,
    sum: i64,
    words: usize,
    /// Per set, what of them it satisfies.
    satisfied: Vec<u64>,
    costs: Vec<i64>,
    /// The sets by reduced cost under all prices.
    lines: Vec<Line>,
}

struct Line {
    column: u32,
    raw: i64,
    cost: i64,
}

/// The prices of one state, and of its successor at work.
pub struct Ledger {
    dead: Vec<u64>,
    fresh: Vec<u64>,
    price: i64,
    of: Vec<OwnLedger>,
}

#[derive(Clone)]
struct OwnLedger {
    dead: Vec<u64>,
    alive: Vec<u64>,
    /// Dead in the successor only.
    fresh: Vec<u64>,
    touched: bool,
    /// The prices of the living.
    lives: i64,
    /// The least reduced cost, and the set that attains it.
    least: i64,
    support: u32,
}

impl Ledger {
    /// How many bytes it takes.
    pub fn bytes(&self) -> usize {
        let own = |own: &OwnLedger| size_of::<OwnLedger>() + 24 * own.dead.capacity();
        8 * (self.dead.capacity() + self.fresh.capacity()) + self.of.iter().map(own).sum::<usize>()
    }
}

impl OwnLedger {
    /// Forgets the successor.
    fn settle(&mut self) {
        if self.touched {
            self.fresh.fill(0);
            self.touched = false;
        }
    }
}

fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(k, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros() as usize;
            (left != 0).then(|| {
                left &= left - 1;
                k * 64 + bit
            })
        })
    })
}

impl Own {
    #[inline]
    fn worth(&self, column: usize, of: &[u64]) -> i64 {
        let mut value = 0;
        for (k, (&s, &o)) in self.satisfied[column * self.words..][..self.words].iter().zip(of).enumerate() {
            let mut both = s & o;
            while both != 0 {
                value += self.each[k * 64 + both.trailing_zeros() as usize];
                both &= both - 1;
            }
        }
        value
    }

    #[inline]
    fn reduced(&self, line: &Line, ledger: &OwnLedger) -> i64 {
        if 2 * ledger.lives < self.sum {
            line.cost - self.worth(line.column as usize, &ledger.alive)
        } else {
            line.raw + self.worth(line.column as usize, &ledger.dead)
        }
    }

    /// The least reduced cost of the sets up to a rank in the successor at work, and the set that attains it.
    fn least(&self, rank: u32, ledger: &OwnLedger) -> (i64, u32) {
        let (mut best, mut attained) = (NEVER, 0);
        for line in &self.lines {
            if line.raw >= best {
                break;
            }
            if line.column <= rank && line.cost - ledger.lives < best {
                let mut value = self.reduced(line, ledger);
                if ledger.touched && value < best {
                    value += self.worth(line.column as usize, &ledger.fresh);
                }
                if value < best {
                    (best, attained) = (value, line.column);
                }
            }
        }
        (best, attained)
    }
}

impl<const W: usize> Prices<W> {
    /// Lays out.
    pub fn new(problem: &Problem<W>, dual: &Dual<W>) -> Self {
        let priced = dual.cuts.iter().zip(&dual.prices).filter(|(_, p)| **p > 0);
        let (cuts, prices): (Vec<&Cut<W>>, Vec<i64>) = priced.map(|(c, p)| (c, *p)).unzip();
        let mut having = vec![vec![0; cuts.len().div_ceil(64)]; problem.n()];
        let mut members = vec![vec![]; cuts.len()];
        let mut of = Vec::new();
        for (v, columns) in problem.columns.iter().enumerate() {
            // Per cut of v, one place for each step of what a set can be worth to it: the worth reached, the price of
            // the step.
            let mut mine: Vec<(usize, i64, i64)> = Vec::new();
            for i in (0..cuts.len()).filter(|&i| cuts[i].members().has(v)) {
                having[v][i / 64] |= 1 << (i % 64);
                let mut below = 0;
                for worth in cuts[i].worths(v) {
                    members[i].push((v as u32, mine.len() as u32));
                    mine.push((i, worth, (worth - below) * prices[i]));
                    below = worth;
                }
            }
            let words = mine.len().div_ceil(64);
            let (mut satisfied, mut raw): (Vec<u64>, Vec<i64>) =
                (vec![0; words * columns.len()], columns.costs.clone());
            for (column, &set) in columns.sets.iter().enumerate() {
                for (place, &(_, _, price)) in
                    mine.iter().enumerate().filter(|(_, (i, worth, _))| cuts[*i].worth(v, set) >= *worth)
                {
                    satisfied[column * words + place / 64] |= 1 << (place % 64);
                    raw[column] -= price;
                }
            }
            let line = |(column, raw)| Line { column: column as u32, raw, cost: columns.costs[column] };
            let mut lines: Vec<Line> = raw.into_iter().enumerate().map(line).collect();
            lines.sort_by_key(|line| (line.raw, line.column));
            let own: Vec<i64> = mine.iter().map(|(_, _, price)| *price).collect();
            let (sum, costs) = (own.iter().sum(), columns.costs.clone());
            of.push(Own { each: own, sum, words, satisfied, costs, lines });
        }
        let each = cuts.iter().zip(&prices).map(|(cut, price)| cut.need() * price).collect();
        Self { each, having, members, of }
    }

    /// How many bytes they take.
    pub fn bytes(&self) -> usize {
        let own = |own: &Own| {
            8 * (own.each.capacity() + own.satisfied.capacity() + own.costs.capacity())
                + own.lines.capacity() * size_of::<Line>()
        };
        let members: usize = self.members.iter().map(|members| 8 * members.capacity() + 24).sum();
        members
            + self.having.iter().map(|words| 8 * words.capacity()).sum::<usize>()
            + self.of.iter().map(own).sum::<usize>()
    }

    /// About how many bytes they will take.
    pub fn bytes_for(problem: &Problem<W>, dual: &Dual<W>) -> usize {
        let priced = || dual.cuts.iter().zip(&dual.prices).filter(|(_, p)| **p > 0).map(|(cut, _)| cut);
        let of = |(v, columns): (usize, &Columns<W>)| {
            let mine: usize = priced().filter(|cut| cut.members().has(v)).map(|cut| cut.worths(v).len()).sum();
            // While they are laid out, costs less prices stand beside.
            columns.len() * (8 * mine.div_ceil(64) + 24 + size_of::<Line>())
        };
        problem.columns.iter().enumerate().map(of).sum()
    }

    /// Room for a state's prices.
    pub fn ledger(&self) -> Ledger {
        let words = vec![0; self.each.len().div_ceil(64)];
        let own = |own: &Own| {
            let words = vec![0; own.words];
            let (dead, alive, fresh) = (words.clone(), words.clone(), words);
            OwnLedger { dead, alive, fresh, touched: false, lives: 0, least: 0, support: 0 }
        };
        Ledger { dead: words.clone(), fresh: words, price: 0, of: self.of.iter().map(own).collect() }
    }

    /// Opens the ledger of a state; ranks are of the best sets within the placed variables. Returns what completing the
    /// state costs at least.
    pub fn open(&self, rest: Bits<W>, ranks: &[u32], ledger: &mut Ledger) -> i64 {
        ledger.of.iter_mut().for_each(OwnLedger::settle);
        let Ledger { dead, price, of, .. } = ledger;
        dead.fill(0);
        for u in Bits::first(self.of.len()).minus(rest).iter() {
            for (d, h) in dead.iter_mut().zip(&self.having[u]) {
                *d |= h;
            }
        }
        for v in rest.iter() {
            of[v].alive.fill(0);
        }
        *price = 0;
        for (i, p) in self.each.iter().enumerate() {
            if dead[i / 64] >> (i % 64) & 1 == 0 {
                *price += p;
                for &(v, place) in &self.members[i] {
                    of[v as usize].alive[place as usize / 64] |= 1 << (place % 64);
                }
            }
        }
        let mut total = *price;
        for v in rest.iter() {
            let (own, mine) = (&self.of[v], &mut of[v]);
            for k in 0..own.words {
                let all = if (k + 1) * 64 <= own.each.len() { u64::MAX } else { (1 << (own.each.len() % 64)) - 1 };
                mine.dead[k] = all & !mine.alive[k];
            }
            mine.lives = ones(&mine.alive).map(|i| own.each[i]).sum();
            (mine.least, mine.support) = own.least(ranks[v], mine);
            total += mine.least;
        }
        total
    }

    /// Turns to a successor in which these variables are placed too. Returns the prices of the clusters left.
    pub fn turn(&self, placed: Bits<W>, ledger: &mut Ledger) -> i64 {
        let Ledger { dead, fresh, price, of } = ledger;
        of.iter_mut().for_each(OwnLedger::settle);
        fresh.fill(0);
        for u in placed.iter() {
            for (f, h) in fresh.iter_mut().zip(&self.having[u]) {
                *f |= h;
            }
        }
        for (f, d) in fresh.iter_mut().zip(dead.iter()) {
            *f &= !d;
        }
        let mut left = *price;
        for i in ones(fresh) {
            left -= self.each[i];
            for &(v, place) in &self.members[i] {
                let own = &mut of[v as usize];
                own.fresh[place as usize / 64] |= 1 << (place % 64);
                own.touched = true;
            }
        }
        left
    }

    /// The least reduced cost of a variable in the successor at work.
    pub fn least_in_successor(&self, v: usize, rank: u32, ledger: &Ledger) -> i64 {
        let (own, mine) = (&self.of[v], &ledger.of[v]);
        if mine.support <= rank && self.back(v, mine.support, ledger) == 0 {
            // Its other sets only became dearer or dominated.
            mine.least
        } else {
            own.least(rank, mine).0
        }
    }

    /// By how much a set becomes dearer in the successor at work.
    #[inline]
    pub fn back(&self, v: usize, column: u32, ledger: &Ledger) -> i64 {
        let mine = &ledger.of[v];
        if mine.touched { self.of[v].worth(column as usize, &mine.fresh) } else { 0 }
    }

    /// The least reduced cost of a variable in the state.
    #[inline]
    pub fn least(v: usize, ledger: &Ledger) -> i64 {
        ledger.of[v].least
    }

    /// Calls `take` with every set up to a rank whose reduced cost in the state is less than `slack` above the least,
    /// and by how much it is above; ends early, with false, when told to.
    pub fn within(
        &self,
        v: usize,
        rank: u32,
        slack: i64,
        ledger: &Ledger,
        mut take: impl FnMut(u32, i64) -> bool,
    ) -> bool {
        let (own, mine) = (&self.of[v], &ledger.of[v]);
        let limit = mine.least + slack;
        let ranked = &own.costs[..own.costs.len().min(rank as usize + 1)];
        let cheap = ranked.partition_point(|&cost| cost - mine.lives < limit) as u32;
        let low = own.lines.partition_point(|line| line.raw < limit);
        own.lines[..low].iter().filter(|line| line.column < cheap).all(|line| {
            let reduced = own.reduced(line, mine);
            reduced >= limit || take(line.column, reduced - mine.least)
        })
    }
}
