//! The table every score reads: immutable columns of codes or standardised numbers, with their kinds.
//!
//! A column of levels is stored in the narrowest unsigned integer that holds its codes; a continuous column as `f64`,
//! usually standardised, with the map back to the user's units. Rows with missing values are gone by now.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
pub use crate::normal_scores::NormalScores;
pub use crate::units::{Affine, NumberLeaf, Point, Units, log_shift, logarithm};
use crate::weights::Weights;

/// A column's position in the table.
pub type Var = usize;

/// One level of a categorical or ordinal variable, as the user wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number with a fractional part, or one beyond the integers.
    Real(f64),
    /// A text.
    Text(Arc<str>),
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(i) => write!(f, "{i}"),
            Self::Real(x) => write!(f, "{x}"),
            Self::Text(t) => write!(f, "{t}"),
        }
    }
}

impl Level {
    /// Whether both read as the same: a network from a file holds texts.
    pub fn reads_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(_), _) | (_, Self::Bool(_)) => self.to_string().eq_ignore_ascii_case(&other.to_string()),
            _ => self.to_string() == other.to_string(),
        }
    }
}

/// What kind of variable a column holds, with what is needed to speak of it in the user's terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
    /// Real numbers.
    Continuous {
        /// The way back to the user's units.
        scale: Units,
    },
    /// Levels without an order; any of them may be unobserved.
    Categorical {
        /// Every declared level, by code.
        levels: Arc<[Level]>,
    },
    /// Levels in their order; any of them may be unobserved.
    Ordinal {
        /// Every declared level, by code, in order.
        levels: Arc<[Level]>,
    },
}

/// A named variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// The user's name for it.
    pub name: Arc<str>,
    /// Its kind.
    #[serde(flatten)]
    pub kind: Kind,
}

impl Variable {
    /// Number of declared levels, or `None` for a continuous variable.
    #[inline]
    pub fn n_levels(&self) -> Option<usize> {
        match &self.kind {
            Kind::Continuous { .. } => None,
            Kind::Categorical { levels } | Kind::Ordinal { levels } => Some(levels.len()),
        }
    }

    /// What its stored values are an affine map of, by its name: `x`, or on a logarithmic scale `ln(x)`.
    pub fn affine_name(&self) -> Cow<'_, str> {
        match &self.kind {
            Kind::Continuous { scale } => scale.name(&self.name),
            _ => Cow::Borrowed(&self.name),
        }
    }

    /// True for real numbers.
    #[inline]
    pub fn is_continuous(&self) -> bool {
        matches!(self.kind, Kind::Continuous { .. })
    }
}

/// Codes of a column with levels, in the narrowest integer that holds them.
#[derive(Clone, Debug, PartialEq)]
pub enum Codes {
    /// At most 256 levels.
    U8(Vec<u8>),
    /// At most 65,536 levels.
    U16(Vec<u16>),
    /// More.
    U32(Vec<u32>),
}

impl Codes {
    /// Packs codes into the narrowest type for `n_levels`.
    pub fn pack(codes: &[u32], n_levels: usize) -> Self {
        match n_levels {
            0..=256 => Self::U8(codes.iter().map(|&c| c as u8).collect()),
            257..=65_536 => Self::U16(codes.iter().map(|&c| c as u16).collect()),
            _ => Self::U32(codes.to_vec()),
        }
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::U8(c) => c.len(),
            Self::U16(c) => c.len(),
            Self::U32(c) => c.len(),
        }
    }

    /// True without rows.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The code in one row.
    #[inline]
    pub fn get(&self, row: usize) -> usize {
        match self {
            Self::U8(c) => c[row] as usize,
            Self::U16(c) => c[row] as usize,
            Self::U32(c) => c[row] as usize,
        }
    }

    /// All codes, row by row.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }
}

/// The values of one variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Of a continuous variable, finite, in stored (standardised) units.
    Reals(Vec<f64>),
    /// Of a categorical or ordinal variable.
    Codes(Codes),
}

impl Column {
    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Reals(x) => x.len(),
            Self::Codes(c) => c.len(),
        }
    }

    /// True without rows.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Complete data of named variables: what scores are computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Shared with every model that is handed out.
    variables: Arc<[Variable]>,
    columns: Vec<Column>,
    n_rows: usize,
    /// None where every row counts once.
    weights: Option<Arc<Weights>>,
}

/// The largest stored number: its cubes can still be multiplied and summed. Standardised ones stay below the square root
/// of the number of rows.
const MOST: f64 = 1e50;

impl Table {
    /// Puts variables and their columns together.
    ///
    /// # Errors
    /// If lengths differ, names repeat, a code has no level, or a number is not finite or beyond 1e50.
    pub fn new(variables: Vec<Variable>, columns: Vec<Column>) -> Result<Self> {
        if variables.len() != columns.len() {
            return Err(Error::Shape(format!("{} variables for {} columns", variables.len(), columns.len())));
        }
        let n_rows = columns.first().map_or(0, Column::len);
        let mut seen = rustc_hash::FxHashSet::default();
        for (variable, column) in variables.iter().zip(&columns) {
            let name = &variable.name;
            if !seen.insert(name.clone()) {
                return Err(Error::column(&**name, "appears twice", "give every column its own name"));
            }
            if column.len() != n_rows {
                let problem = format!("has {} rows where the first column has {n_rows}", column.len());
                return Err(Error::column(&**name, problem, "all columns need one value per row"));
            }
            match (column, variable.n_levels()) {
                (Column::Reals(values), None) => {
                    if let Some(row) = values.iter().position(|x| !x.is_finite()) {
                        let problem = format!("is {} in row {row}, or spreads too widely for 64 bits", values[row]);
                        return Err(Error::column(&**name, problem, "drop or replace such values first"));
                    }
                    if let Some(row) = values.iter().position(|x| x.abs() > MOST) {
                        let problem = format!("is stored as {:e} in row {row}, whose powers overflow", values[row]);
                        return Err(Error::column(&**name, problem, "standardise it, or give it in a larger unit"));
                    }
                }
                (Column::Codes(codes), Some(k)) => {
                    if let Some(row) = codes.iter().position(|c| c >= k) {
                        let problem = format!("has code {} in row {row} but only {k} levels", codes.get(row));
                        return Err(Error::column(&**name, problem, "declare every level that occurs"));
                    }
                }
                _ => return Err(Error::column(&**name, "holds values of another kind", "make kind and values agree")),
            }
        }
        Ok(Self { variables: variables.into(), columns, n_rows, weights: None })
    }

    /// The same rows with weights: those of weight 0 are left out, and weights that are all 1 say nothing.
    ///
    /// # Errors
    /// If a weight is negative or not finite, all are 0, or there is not one for each row.
    pub fn weighted(self, weights: Vec<f64>) -> Result<Self> {
        if weights.len() != self.n_rows {
            return Err(Error::Shape(format!("{} weights for {} rows", weights.len(), self.n_rows)));
        }
        crate::weights::check(&weights)?;
        let weights = crate::weights::rounded(weights);
        if weights.contains(&0.0) {
            let rows: Vec<usize> = (0..self.n_rows).filter(|&row| weights[row] > 0.0).collect();
            let left = rows.iter().map(|&row| weights[row]).collect();
            return self.take(&rows).weighted(left);
        }
        let weights = if weights.iter().all(|&w| w == 1.0) { None } else { Some(Arc::new(Weights::new(weights)?)) };
        Ok(Self { weights, ..self })
    }

    /// With weights that may differ by child.
    #[must_use]
    pub fn with_weights(self, weights: Weights) -> Self {
        Self { weights: Some(Arc::new(weights)), ..self }
    }

    /// How often each row counts; none where each counts once.
    pub fn weights(&self) -> Option<&Weights> {
        self.weights.as_deref()
    }

    /// How often each row counts for a child.
    pub fn weights_of(&self, child: Var) -> Option<&[f64]> {
        self.weights.as_deref().map(|weights| weights.of_child(child))
    }

    /// The sum of the weights: the number of rows where each counts once.
    #[inline]
    pub fn total_weight(&self) -> f64 {
        self.weights.as_deref().map_or(self.n_rows as f64, Weights::total)
    }

    /// Rows as often as their weights say, for a computation that knows no weights; `who` names it, as a parameter with
    /// its value, and `others` what can do it.
    ///
    /// # Errors
    /// If weights are not whole, or these are more than a million rows.
    pub fn repeated(self: &Arc<Self>, who: (&str, &str), others: &str) -> Result<Arc<Self>> {
        let Some(weights) = self.weights() else { return Ok(self.clone()) };
        let rows = weights.repeated().map_err(|why| {
            let takes = "takes rows with weights only if these are whole numbers that sum to a million at most";
            Error::parameter(who.0, &who.1, format!("{takes}, and {why}; {others}"))
        })?;
        Ok(Arc::new(Self { weights: None, ..self.take(&rows) }))
    }

    /// Rows about as often as their weights say, for what only chooses where to look and knows no weights.
    pub fn in_proportion(self: &Arc<Self>) -> Arc<Self> {
        match self.weights() {
            None => self.clone(),
            Some(weights) => Arc::new(Self { weights: None, ..self.take(&weights.in_proportion()) }),
        }
    }

    /// Number of rows.
    #[inline]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of variables.
    #[inline]
    pub fn n_vars(&self) -> usize {
        self.variables.len()
    }

    /// All variables, to be held by others without a copy.
    pub fn shared_variables(&self) -> Arc<[Variable]> {
        self.variables.clone()
    }

    /// All variables in column order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// One variable.
    #[inline]
    pub fn variable(&self, var: Var) -> &Variable {
        &self.variables[var]
    }

    /// The values of one variable.
    #[inline]
    pub fn column(&self, var: Var) -> &Column {
        &self.columns[var]
    }

    /// The codes of a variable that has levels.
    ///
    /// # Errors
    /// If the variable is continuous; `advice` says what the caller offers instead, with `{column}` for its name.
    #[inline]
    pub fn codes(&self, var: Var, advice: &str) -> Result<&Codes> {
        match &self.columns[var] {
            Column::Codes(codes) => Ok(codes),
            Column::Reals(_) => {
                let advice = advice.replace("{column}", self.name(var));
                Err(Error::column(self.name(var), "is continuous where levels are needed", advice))
            }
        }
    }

    /// The name of a variable.
    pub fn name(&self, var: Var) -> &str {
        &self.variables[var].name
    }

    /// Rows by their values, column after column: an order that any order of the rows gives. Rows that agree in everything
    /// are as good as each other.
    pub fn canonical_rows(&self) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..self.n_rows as u32).collect();
        let weights = self.weights().map(Weights::of_rows);
        let by_weight = |a: usize, b: usize| weights.map_or(std::cmp::Ordering::Equal, |w| w[a].total_cmp(&w[b]));
        rows.sort_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            let orders = self.columns.iter().map(|column| match column {
                Column::Reals(x) => x[a].total_cmp(&x[b]),
                Column::Codes(c) => c.get(a).cmp(&c.get(b)),
            });
            orders.into_iter().find(|order| order.is_ne()).unwrap_or_else(|| by_weight(a, b))
        });
        rows
    }

    /// About so many rows, evenly from all in their canonical order, so that no order of the rows matters.
    ///
    /// # Errors
    /// Never for a table that is one.
    pub fn every(&self, n_rows: usize) -> Result<Self> {
        let order = self.canonical_rows();
        let step = (self.n_rows / n_rows.max(1)).max(1);
        let rows: Vec<usize> = order.into_iter().step_by(step).map(|row| row as usize).collect();
        Ok(self.take(&rows))
    }

    /// Some of the rows, in this order, with their weights.
    #[must_use]
    pub fn take(&self, rows: &[usize]) -> Self {
        let columns = self.variables.iter().zip(&self.columns).map(|(variable, column)| match column {
            Column::Reals(x) => Column::Reals(rows.iter().map(|&row| x[row]).collect()),
            Column::Codes(codes) => {
                let taken: Vec<u32> = rows.iter().map(|&row| codes.get(row) as u32).collect();
                Column::Codes(Codes::pack(&taken, variable.n_levels().unwrap_or(0)))
            }
        });
        let weights = self.weights().map(|weights| Arc::new(weights.take(rows)));
        Self { variables: self.variables.clone(), columns: columns.collect(), n_rows: rows.len(), weights }
    }

    /// The position of a name.
    pub fn position(&self, name: &str) -> Option<Var> {
        self.variables.iter().position(|v| &*v.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(name: &str, k: usize) -> Variable {
        let levels = (0..k).map(|i| Level::Int(i as i64)).collect();
        Variable { name: name.into(), kind: Kind::Categorical { levels } }
    }

    fn number(name: &str) -> Variable {
        Variable { name: name.into(), kind: Kind::Continuous { scale: Units::IDENTITY } }
    }

    #[test]
    fn codes_use_the_narrowest_type() {
        assert!(matches!(Codes::pack(&[0, 255], 256), Codes::U8(_)));
        assert!(matches!(Codes::pack(&[0, 256], 257), Codes::U16(_)));
        assert!(matches!(Codes::pack(&[0, 65_536], 65_537), Codes::U32(_)));
        assert_eq!(Codes::pack(&[3, 256], 257).iter().collect::<Vec<_>>(), [3, 256]);
    }

    #[test]
    fn numbers_whose_powers_overflow_are_refused_with_the_way_out() {
        let told = |x| Table::new(vec![number("mass")], vec![Column::Reals(vec![0.0, x])]).map_err(|e| e.to_string());
        assert!(told(-1e50).is_ok());
        let text = told(-1e51).unwrap_err();
        assert!(text.contains("'mass'") && text.contains("row 1") && text.contains("standardise"), "{text}");
        assert!(told(f64::NEG_INFINITY).unwrap_err().contains("spreads too widely"));
    }

    #[test]
    fn a_code_without_a_level_names_its_column_and_row() {
        let error = Table::new(vec![letters("stage", 2)], vec![Column::Codes(Codes::U8(vec![0, 2]))]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("'stage'") && text.contains("row 1") && text.contains("code 2"), "{text}");
    }

    #[test]
    fn an_infinite_number_names_its_column_and_row() {
        let error = Table::new(vec![number("x")], vec![Column::Reals(vec![0.0, f64::INFINITY])]).unwrap_err();
        assert!(error.to_string().contains("'x' is inf in row 1"), "{error}");
    }

    #[test]
    fn repeated_names_and_unequal_lengths_are_refused() {
        let x = || Column::Reals(vec![0.0]);
        assert!(Table::new(vec![number("x"), number("x")], vec![x(), x()]).is_err());
        assert!(Table::new(vec![number("x"), number("y")], vec![x(), Column::Reals(vec![])]).is_err());
    }

    #[test]
    fn rows_of_weight_0_are_left_out_and_weights_of_1_say_nothing() {
        let of = |weights: &[f64]| {
            let table = Table::new(vec![number("x")], vec![Column::Reals(vec![5.0, 6.0, 7.0])]).unwrap();
            table.weighted(weights.to_vec())
        };
        assert_eq!(of(&[1.0, 1.0, 1.0]).unwrap().weights(), None);
        let two = of(&[1.0, 0.0, 1.0]).unwrap();
        assert_eq!((two.n_rows(), two.column(0), two.weights()), (2, &Column::Reals(vec![5.0, 7.0]), None));
        let weighted = Arc::new(of(&[2.0, 0.0, 3.0]).unwrap());
        assert_eq!((weighted.n_rows(), weighted.total_weight()), (2, 5.0));
        let repeated = weighted.repeated(("score", "x"), "").unwrap();
        assert_eq!(repeated.column(0), &Column::Reals(vec![5.0, 5.0, 7.0, 7.0, 7.0]));
        assert_eq!(repeated.weights(), None);
        assert!(of(&[1.0, 2.0]).is_err() && of(&[1.0, -1.0, 1.0]).is_err());
        let told = Arc::new(of(&[1.0, 0.5, 1.0]).unwrap()).repeated(("score", "mars"), "others do").unwrap_err();
        let text = told.to_string();
        assert!(text.starts_with("score=mars: ") && text.contains("row 1 is 0.5") && text.ends_with("others do"));
    }
}
