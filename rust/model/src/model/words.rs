//! How numbers are said where they stand for something else: dates, moments, times of day, spans of time.
//!
//! Models are fitted to numbers and every text is made here in the core; it asks a [`Wording`] for each number of a variable
//! as it writes it, so that no finished text has to be read again.

/// What stands for the numbers of a variable; `None` for plain numbers.
pub trait Wording {
    /// What the variable holds in place of plain numbers: `date`, `duration`, ...
    fn class(&self, variable: &str) -> Option<String>;

    /// A value.
    fn value(&self, variable: &str, x: f64) -> Option<String>;

    /// A threshold: values equal to it count as above it.
    fn threshold(&self, variable: &str, x: f64) -> Option<String>;

    /// A threshold that was chosen to be written in full.
    fn cut(&self, variable: &str, x: f64) -> Option<String> {
        self.threshold(variable, x)
    }

    /// The middle of a distribution that is so wide.
    fn centre(&self, variable: &str, x: f64, spread: f64) -> Option<String>;

    /// A difference of two values.
    fn difference(&self, variable: &str, x: f64) -> Option<String>;

    /// What differences are counted in where values are so far apart: the unit's name, and its size.
    fn unit(&self, variable: &str, spread: f64) -> Option<(String, f64)>;
}

/// All numbers are plain.
pub struct Plain;

impl Wording for Plain {
    fn class(&self, _variable: &str) -> Option<String> {
        None
    }

    fn value(&self, _variable: &str, _x: f64) -> Option<String> {
        None
    }

    fn threshold(&self, _variable: &str, _x: f64) -> Option<String> {
        None
    }

    fn centre(&self, _variable: &str, _x: f64, _spread: f64) -> Option<String> {
        None
    }

    fn difference(&self, _variable: &str, _x: f64) -> Option<String> {
        None
    }

    fn unit(&self, _variable: &str, _spread: f64) -> Option<(String, f64)> {
        None
    }
}
