//! The sets that can still matter below a state, and prices of the state's own: a dual ascent on these sets alone.

use crate::exact::bits::Bits;
use crate::exact::problem::NEVER;

/// A set that a state may still use: its members in rest, its reduced cost there, its column.
#[derive(Clone, Copy)]
pub struct Live<const W: usize> {
    /// Its members that are still to be placed.
    pub set: Bits<W>,
    /// Under the root's prices, above the least of its variable.
    pub base: i64,
    /// Under the state's own prices too.
    pub reduced: i64,
    /// Where it stands among its variable's sets.
    pub column: u32,
}

/// The live sets of a state, by variable.
pub struct LiveSets<const W: usize> {
    sets: Vec<Live<W>>,
    /// Where each variable's begin and end.
    spans: Vec<(u32, u32)>,
    /// Per variable, the sets of reduced cost 0, without supersets of others.
    zero: Vec<Vec<Bits<W>>>,
    /// Per variable, those with a set of reduced cost 0 that has it.
    users: Vec<Bits<W>>,
}

impl<const W: usize> LiveSets<W> {
    /// Without any, for n variables.
    pub fn new(n: usize) -> Self {
        Self { sets: Vec::new(), spans: vec![(0, 0); n], zero: vec![Vec::new(); n], users: vec![Bits::EMPTY; n] }
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        self.sets.capacity() * size_of::<Live<W>>()
            + self.zero.iter().map(|sets| sets.capacity() * size_of::<Bits<W>>()).sum::<usize>()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.sets.clear();
        self.spans.fill((0, 0));
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.sets.len()
    }

    /// Adds one, to the variable that is ended next.
    #[inline]
    pub fn push(&mut self, live: Live<W>) {
        self.sets.push(live);
    }

    /// What was added since the last variable's end is v's.
    pub fn end(&mut self, v: usize, start: usize) {
        self.sets[start..].sort_unstable_by_key(|l| (l.base, l.column));
        self.spans[v] = (start as u32, self.sets.len() as u32);
    }

    /// Those of a variable, by reduced cost under the root's prices.
    #[inline]
    pub fn of(&self, v: usize) -> &[Live<W>] {
        let (a, b) = self.spans[v];
        &self.sets[a as usize..b as usize]
    }

    /// Dual ascent on the live sets; returns what it adds to the bound, at most about `enough`.
    pub fn ascend(&mut self, rest: Bits<W>, enough: i64) -> i64 {
        for v in rest.iter() {
            self.zero[v].clear();
            self.users[v] = Bits::EMPTY;
        }
        for v in rest.iter() {
            let (a, b) = self.spans[v];
            for i in a as usize..b as usize {
                if self.sets[i].reduced == 0 {
                    self.note(v, self.sets[i].set);
                }
            }
        }
        // What can be placed at once only grows.
        let (mut first, mut news) = (Bits::EMPTY, rest);
        let mut gained = 0;
        while gained < enough {
            first = self.reach(rest, first, news);
            if first == rest {
                break;
            }
            let mut prefix = first;
            for v in rest.minus(prefix).iter() {
                if !prefix.has(v) {
                    let more = self.reach(rest, prefix.with(v), self.users[v]);
                    if more != rest {
                        prefix = more;
                    }
                }
            }
            let cluster = rest.minus(prefix);
            let mut least = NEVER;
            for v in cluster.iter() {
                for l in self.of(v) {
                    if l.reduced < least && !l.set.meets(cluster) {
                        least = l.reduced;
                    }
                }
            }
            gained += least;
            if least == NEVER {
                break;
            }
            for v in cluster.iter() {
                let (a, b) = self.spans[v];
                for i in a as usize..b as usize {
                    let l = &mut self.sets[i];
                    if !l.set.meets(cluster) {
                        l.reduced -= least;
                        if l.reduced == 0 {
                            let set = l.set;
                            self.note(v, set);
                        }
                    }
                }
            }
            news = cluster;
        }
        gained
    }

    /// Notes a set of reduced cost 0, unless a subset is noted.
    fn note(&mut self, v: usize, set: Bits<W>) {
        if !self.zero[v].iter().any(|s| s.within(set)) {
            self.zero[v].push(set);
            for p in set.iter() {
                self.users[p] = self.users[p].with(v);
            }
        }
    }

    /// All variables of rest that sets of reduced cost 0 can place after `prefix`, of which `news` may be next.
    #[inline]
    fn reach(&self, rest: Bits<W>, mut prefix: Bits<W>, news: Bits<W>) -> Bits<W> {
        let mut todo = news & rest.minus(prefix);
        while let Some(v) = todo.lowest() {
            todo = todo.without(v);
            if self.zero[v].iter().any(|set| set.within(prefix)) {
                prefix = prefix.with(v);
                todo |= self.users[v] & rest.minus(prefix);
            }
        }
        prefix
    }
}
