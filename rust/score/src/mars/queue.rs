//! Fast MARS (Friedman 1993): parent terms wait in a queue by what they gained when they were last looked at; those not
//! looked at for long move down with age.

/// A place in the queue.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The slot of the parent term.
    slot: usize,
    gain: f64,
    /// How many slots were taken when the gain was computed.
    at: usize,
}

/// Parent terms by aged rank.
pub struct Queue {
    entries: Vec<Entry>,
    order: Vec<usize>,
    ageing: f64,
    /// Earth gives the k-th entry the k-th slot, also where slots are empty in between.
    by_position: bool,
}

impl Queue {
    /// An empty queue.
    pub fn new(ageing: f64, by_position: bool) -> Self {
        Self { entries: vec![], order: vec![], ageing, by_position }
    }

    /// A new parent term.
    pub fn push(&mut self, slot: usize, gain: f64, at: usize) {
        let slot = if self.by_position { self.entries.len() } else { slot };
        self.entries.push(Entry { slot, gain, at });
    }

    /// Puts the entries in order, with so many slots taken.
    pub fn sort(&mut self, taken: usize) {
        let entries = &self.entries;
        let by_gain = |a: usize, b: usize| entries[b].gain.total_cmp(&entries[a].gain).then(a.cmp(&b));
        self.order = (0..entries.len()).collect();
        self.order.sort_by(|&a, &b| by_gain(a, b));
        if self.ageing > 0.0 {
            let age = |entry: usize| taken as f64 - entries[entry].at as f64;
            let mut aged: Vec<(f64, usize)> =
                self.order.iter().enumerate().map(|(rank, &e)| (rank as f64 + self.ageing * age(e), e)).collect();
            aged.sort_by(|a, b| a.0.total_cmp(&b.0).then(by_gain(a.1, b.1)));
            self.order = aged.into_iter().map(|(_, e)| e).collect();
        }
    }

    /// The entries to look at: place in the queue, and slot.
    pub fn first(&self, most: usize) -> Vec<(usize, usize)> {
        self.order.iter().take(most).map(|&e| (e, self.entries[e].slot)).collect()
    }

    /// What an entry gained when it was looked at.
    pub fn update(&mut self, entry: usize, gain: f64, at: usize) {
        self.entries[entry].gain = gain;
        self.entries[entry].at = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_gains_and_ages_the_first_term_is_looked_at_first() {
        let mut queue = Queue::new(1.0, false);
        for slot in 0..3 {
            queue.push(slot, 1.0, 1);
        }
        queue.sort(3);
        assert_eq!(queue.first(2), [(0, 0), (1, 1)]);
        queue.update(1, 2.0, 3);
        queue.sort(3);
        assert_eq!(queue.first(3), [(1, 1), (0, 0), (2, 2)]);
    }

    #[test]
    fn a_term_not_looked_at_for_long_moves_down() {
        let mut queue = Queue::new(1.0, false);
        queue.push(0, 2.0, 1);
        queue.push(1, 1.0, 1);
        queue.sort(1);
        assert_eq!(queue.first(2), [(0, 0), (1, 1)]);
        queue.update(1, 1.0, 5);
        queue.sort(5);
        assert_eq!(queue.first(2), [(1, 1), (0, 0)]);
    }
}
