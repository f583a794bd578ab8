//! What a spline says, term by term, in sentences.

use std::fmt::Write;

use super::told::{Told, ToldFactor, ToldTerm};
use crate::model::Wording;
use crate::model::text::number;
use crate::table::Level;

/// More levels of a child than this are not told one by one.
const MOST_LEVELS: usize = 12;

impl ToldFactor {
    /// As it stands in a product.
    pub(super) fn product(&self) -> String {
        let name = &self.name;
        if let Some(at) = &self.said {
            return match self.shape {
                "above" => format!("h({name} - {at})"),
                "below" => format!("h({at} - {name})"),
                "falling" => format!("({at} - {name})"),
                _ => format!("({name} - {at})"),
            };
        }
        let at = |x: f64| number(x, 6);
        match (self.shape, self.at, &self.level) {
            ("above", Some(x), _) if x < 0.0 => format!("h({name} + {})", at(-x)),
            ("above", Some(x), _) => format!("h({name} - {})", at(x)),
            ("below", Some(x), _) => format!("h({} - {name})", at(x)),
            ("rising", Some(0.0), _) => name.clone(),
            ("rising", Some(x), _) if x < 0.0 => format!("({name} + {})", at(-x)),
            ("rising", Some(x), _) => format!("({name} - {})", at(x)),
            ("falling", Some(x), _) => format!("({} - {name})", at(x)),
            (_, _, Some(level)) => format!("[{name} = {level}]"),
            _ => name.clone(),
        }
    }

    /// `day that joined is above 2021-03-04`, to stand behind "for every", if it is a number.
    fn by(&self) -> Option<String> {
        let name = &self.name;
        let at = self.said.clone().or_else(|| self.at.map(|x| number(x, 6)))?;
        let unit = self.unit.as_ref().map_or("unit", |(unit, _)| unit);
        match self.shape {
            "rising" if self.said.is_none() && self.at == Some(0.0) => Some(format!("{unit} of {name}")),
            "above" | "rising" => Some(format!("{unit} that {name} is above {at}")),
            "below" | "falling" => Some(format!("{unit} that {name} is below {at}")),
            _ => None,
        }
    }
}

impl ToldTerm {
    /// `rises by 0.8 for every unit that age is above 52, where sex = f`; `amount` says how much, of nothing negative.
    fn sentence(&self, coefficient: f64, amount: impl Fn(f64) -> String) -> String {
        let verb = if coefficient < 0.0 { "falls" } else { "rises" };
        let unit: f64 = self.factors.iter().filter_map(|f| f.unit.as_ref().map(|(_, size)| size)).product();
        let mut out = format!("{verb} by {}", amount(coefficient.abs() * unit));
        let by: Vec<String> = self.factors.iter().filter_map(ToldFactor::by).collect();
        if !by.is_empty() {
            let _ = write!(out, " for every {}", by.join(", times every "));
        }
        let levels = self.factors.iter().filter_map(|f| f.level.as_ref().map(|l| format!("{} = {l}", f.variable)));
        let levels: Vec<String> = levels.collect();
        if !levels.is_empty() {
            let _ = write!(out, "{} where {}", if by.is_empty() { "" } else { "," }, levels.join(" and "));
        }
        out
    }

    /// Of a child that is a number.
    fn of_number(&self, child: &str, words: &dyn Wording) -> String {
        let coefficient = self.coefficients[0];
        let plain = |x: f64| number(x, 4);
        if self.factors.is_empty() {
            let value = words.value(child, coefficient);
            return format!("is {} to begin with", value.unwrap_or_else(|| plain(coefficient)));
        }
        self.sentence(coefficient, |x| words.difference(child, x).unwrap_or_else(|| plain(x)))
    }

    /// Of the share of a level.
    fn of_share(&self, level: usize) -> String {
        let percent = |x: f64| number(100.0 * x, 4);
        if self.factors.is_empty() {
            return format!("is {}% to begin with", percent(self.coefficients[level]));
        }
        self.sentence(self.coefficients[level], |x| format!("{} points", percent(x)))
    }
}

impl Told {
    /// One sentence a term, and of a child with levels for each of them.
    pub fn sentences(&self, words: &dyn Wording) -> Vec<String> {
        if self.levels.is_empty() {
            let own = |term: &ToldTerm| format!("{} {}", self.child, term.of_number(&self.child, words));
            return self.terms.iter().map(own).collect();
        }
        let of = |(k, level): (usize, &Level)| {
            let subject = format!("the share of {} = {level}", self.child);
            self.shares(k).map(move |told| format!("{subject} {told}")).collect::<Vec<_>>()
        };
        self.levels.iter().enumerate().flat_map(of).collect()
    }

    /// What is said of the share of a level.
    fn shares(&self, level: usize) -> impl Iterator<Item = String> + '_ {
        let says = move |term: &&ToldTerm| term.factors.is_empty() || term.coefficients[level] != 0.0;
        self.terms.iter().filter(says).map(move |term| term.of_share(level))
    }

    /// Everything, line by line.
    pub fn text(&self, parents: &str, words: &dyn Wording) -> String {
        let mut out = self.child.clone();
        if !parents.is_empty() {
            let _ = write!(out, " given {parents}");
        }
        let n_levels = self.levels.len();
        if self.levels.is_empty() {
            for term in &self.terms {
                let _ = write!(out, "\n  {}", term.of_number(&self.child, words));
            }
        } else {
            // Of two levels one says it all.
            let shown = if n_levels == 2 { 1..2 } else { 0..n_levels.min(MOST_LEVELS) };
            for k in shown.clone() {
                let _ = write!(out, "\n  the share of {}", self.levels[k]);
                for told in self.shares(k) {
                    let _ = write!(out, "\n    {told}");
                }
            }
            if n_levels > shown.end {
                let _ = write!(out, "\n  ... {} more levels", n_levels - shown.end);
            }
        }
        let spread = |sd: f64| words.difference(&self.child, sd).unwrap_or_else(|| number(sd, 3));
        let sd = self.sd.map_or_else(String::new, |sd| format!(", residual sd {}", spread(sd)));
        let (rss, gcv) = (number(self.rss, 6), self.gcv.map_or_else(|| "infinite".to_owned(), |gcv| number(gcv, 6)));
        let terms = if self.terms.len() == 1 { "1 term".to_owned() } else { format!("{} terms", self.terms.len()) };
        let _ = write!(out, "\n  {terms}, {} rows{sd}, RSS {rss}, GCV {gcv}", self.n);
        out
    }
}
