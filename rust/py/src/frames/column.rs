//! A raw column: what came in, made compact, with what a person needs to know to say what kind it is.

use std::sync::OnceLock;

use arbornet_core::frame::numbers::DISTINCT_CAP;
use arbornet_core::frame::{Interner, Levels, MISSING, Profile, RawCodes, RawValues, TextInterner, number_key};
use arbornet_core::{Error, Level};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use super::exact::{Exact, is_large};
use super::stream::Source;
use super::values::{
    Class, code_texts, for_each_integer, for_each_key, for_each_number, levels_of, plain_numbers, text_level,
};

/// The values in their compact form.
pub enum Data {
    /// Texts, booleans, declared dictionaries.
    Levels(Levels),
    /// Numbers as their producer laid them out, not copied, and what one pass over them told.
    Numbers { profile: Box<Profile>, chunks: Vec<ArrayRef>, counter: bool, exact: Option<Exact> },
    /// No values, or none that can be read.
    Nothing,
}

/// One column of a frame.
pub struct RawColumn {
    pub name: String,
    pub class: Class,
    /// True if the levels were declared with an order.
    pub ordered: bool,
    pub data: Data,
    n_rows: usize,
    /// The distinct values of a column of numbers, counted when first asked for.
    counted: OnceLock<Levels>,
}

/// If one is the other with values left out, the longer.
fn merged_order(a: Vec<Level>, b: Vec<Level>) -> Option<Vec<Level>> {
    let within = |short: &[Level], long: &[Level]| {
        let mut rest = long.iter();
        short.iter().all(|value| rest.any(|other| other == value))
    };
    if within(&b, &a) {
        Some(a)
    } else if within(&a, &b) {
        Some(b)
    } else {
        None
    }
}

fn unique(values: &[Option<Level>]) -> Vec<Level> {
    let mut unique: Vec<Level> = Vec::with_capacity(values.len());
    let mut seen = std::collections::HashSet::new();
    for value in values.iter().flatten() {
        if seen.insert(key(value)) {
            unique.push(value.clone());
        }
    }
    unique
}

/// A level as a hashable value.
fn key(level: &Level) -> (u8, u64, &str) {
    match level {
        Level::Bool(b) => (0, u64::from(*b), ""),
        Level::Int(i) => (1, *i as u64, ""),
        Level::Real(x) => (2, number_key(*x), ""),
        Level::Text(t) => (3, 0, t),
    }
}

impl RawColumn {
    /// Makes a column compact.
    ///
    /// # Errors
    /// If texts are not UTF-8, or chunks declare orders that contradict each other.
    pub fn new(source: Source, n_rows: usize) -> Result<Self, Error> {
        let Source { name, class, ordered, chunks, .. } = source;
        let is_dictionary = chunks.first().is_some_and(|c| matches!(c.data_type(), DataType::Dictionary(..)));
        let data = match &class {
            Class::Nothing | Class::Unreadable(_) => Data::Nothing,
            _ if ordered && (is_dictionary || n_rows == 0) => {
                Data::Levels(declared(&chunks, n_rows).map_err(|problem| {
                    Error::column(&*name, problem, "give every chunk the same levels in the same order")
                })?)
            }
            Class::Text => Data::Levels(
                texts(&chunks, n_rows).map_err(|problem| Error::column(&*name, problem, "decode the text first"))?,
            ),
            Class::Truth => Data::Levels(truths(&chunks, n_rows)),
            class => numbers(chunks, n_rows, *class == Class::Integer),
        };
        Ok(Self { name, class, ordered, data, n_rows, counted: OnceLock::new() })
    }

    /// A column of which no value can be read, and what it holds instead.
    pub fn unreadable(name: String, problem: String, n_rows: usize) -> Self {
        let class = Class::Unreadable(problem);
        Self { name, class, ordered: false, data: Data::Nothing, n_rows, counted: OnceLock::new() }
    }

    /// A column whose levels someone declared, in order or not.
    pub fn declared(name: String, class: Class, ordered: bool, codes: RawCodes, values: Vec<Level>) -> Self {
        let n_rows = codes.len();
        let data = Data::Levels(Levels::declared(codes, values));
        Self { name, class, ordered, data, n_rows, counted: OnceLock::new() }
    }
}

impl RawValues for RawColumn {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn levels(&self) -> &Levels {
        match &self.data {
            Data::Levels(levels) => levels,
            Data::Numbers { chunks, .. } => self.counted.get_or_init(|| {
                if self.class == Class::Integer {
                    count_integers(chunks, self.n_rows)
                } else {
                    count_numbers(chunks, self.n_rows)
                }
            }),
            Data::Nothing => self.counted.get_or_init(|| {
                let mut codes = RawCodes::with_capacity(self.n_rows);
                codes.extend(std::iter::repeat_n(MISSING, self.n_rows));
                Levels::sorted(codes, &[])
            }),
        }
    }

    fn profile(&self) -> Option<&Profile> {
        match &self.data {
            Data::Numbers { profile, .. } => Some(profile),
            Data::Levels(_) | Data::Nothing => None,
        }
    }

    fn copy_numbers(&self, values: &mut Vec<f64>) -> bool {
        let Data::Numbers { profile, chunks, .. } = &self.data else { return false };
        if profile.n_null + profile.n_nan > 0 || chunks.iter().any(|chunk| plain_numbers(chunk).is_none()) {
            return false;
        }
        for chunk in chunks.iter().filter_map(|chunk| plain_numbers(chunk)) {
            values.extend_from_slice(chunk);
        }
        true
    }

    fn for_each_number(&self, f: &mut impl FnMut(Option<f64>)) {
        match &self.data {
            Data::Numbers { chunks, .. } => {
                for chunk in chunks {
                    for_each_number(chunk, &mut |x| f(x.filter(|x| !x.is_nan())));
                }
            }
            Data::Nothing => (0..self.n_rows).for_each(|_| f(None)),
            Data::Levels(levels) => {
                let numbers: Vec<Option<f64>> = levels.values().iter().map(number_of).collect();
                (0..levels.len()).for_each(|row| f(numbers.get(levels.rank(row) as usize).copied().flatten()));
            }
        }
    }
}

/// A level read as a number: what a person means who declares a column of texts such as "12" continuous.
pub fn number_of(level: &Level) -> Option<f64> {
    match level {
        Level::Bool(b) => Some(f64::from(u8::from(*b))),
        Level::Int(i) => Some(*i as f64),
        Level::Real(x) => Some(*x),
        Level::Text(text) => text.trim().parse().ok().filter(|x: &f64| x.is_finite()),
    }
}

fn texts(chunks: &[ArrayRef], n_rows: usize) -> Result<Levels, String> {
    let mut codes = RawCodes::with_capacity(n_rows);
    let mut interner = TextInterner::default();
    for chunk in chunks {
        code_texts(chunk, &mut interner, &mut codes);
    }
    let values = interner.into_values().iter().map(|text| text_level(text)).collect::<Result<Vec<_>, _>>()?;
    Ok(Levels::sorted(codes, &values))
}

fn truths(chunks: &[ArrayRef], n_rows: usize) -> Levels {
    let mut codes = RawCodes::with_capacity(n_rows);
    let mut interner = Interner::default();
    for chunk in chunks {
        if let DataType::Dictionary(..) = chunk.data_type() {
            let dictionary = chunk.as_any_dictionary();
            let values = dictionary.values().as_boolean();
            let mut coded = Vec::with_capacity(chunk.len());
            for_each_key(chunk, &mut |key| {
                let key = key.map(|key| key as usize).filter(|&key| key < values.len() && values.is_valid(key));
                coded.push(key.map_or(MISSING, |key| interner.code(values.value(key))));
            });
            codes.extend(coded.into_iter());
        } else {
            let values = chunk.as_boolean();
            codes.extend(
                (0..values.len()).map(
                    |row| {
                        if values.is_null(row) { MISSING } else { interner.code(values.value(row)) }
                    },
                ),
            );
        }
    }
    Levels::sorted(codes, &interner.into_values().into_iter().map(Level::Bool).collect::<Vec<_>>())
}

fn declared(chunks: &[ArrayRef], n_rows: usize) -> Result<Levels, String> {
    let mut order = Vec::new();
    let mut dictionaries = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let values = levels_of(chunk.as_any_dictionary().values())?;
        order = merged_order(order, unique(&values))
            .ok_or("is an ordered dictionary whose chunks disagree about the order")?;
        dictionaries.push(values);
    }
    let places: std::collections::HashMap<_, u32> = order.iter().map(key).zip(0..).collect();
    let mut codes = RawCodes::with_capacity(n_rows);
    for (chunk, values) in chunks.iter().zip(&dictionaries) {
        let map: Vec<u32> = values.iter().map(|v| v.as_ref().map_or(MISSING, |v| places[&key(v)])).collect();
        let mut coded = Vec::with_capacity(chunk.len());
        for_each_key(chunk, &mut |key| {
            coded.push(key.and_then(|key| map.get(key as usize).copied()).unwrap_or(MISSING));
        });
        codes.extend(coded.into_iter());
    }
    Ok(Levels::declared(codes, order))
}

fn numbers(chunks: Vec<ArrayRef>, n_rows: usize, whole: bool) -> Data {
    let single = chunks.first().is_some_and(|chunk| *chunk.data_type() == DataType::Float32);
    let mut profile = if single { Profile::of_single() } else { Profile::default() };
    for chunk in &chunks {
        match plain_numbers(chunk) {
            Some(values) => profile.observe_all(values),
            None => for_each_number(chunk, &mut |x| profile.observe(x)),
        }
    }
    profile.finish();
    let exact = Exact::of(&chunks, &profile, whole);
    // Neighbouring whole numbers may be one float: their distinct values are not known from this pass.
    if is_large(&profile) && profile.whole {
        profile.distinct = None;
    }
    let counter =
        profile.is_counter_in_order() || n_rows >= 20 && profile.spans_the_rows() && all_differ(&chunks, n_rows);
    Data::Numbers { profile: Box::new(profile), chunks, counter, exact }
}

/// True if whole numbers of 0..=n are all different.
fn all_differ(chunks: &[ArrayRef], n_rows: usize) -> bool {
    let mut seen = vec![false; n_rows + 1];
    let mut differ = true;
    for chunk in chunks {
        for_each_number(chunk, &mut |x| {
            let place = x.and_then(|x| seen.get_mut(x as usize));
            differ &= place.is_some_and(|seen| !std::mem::replace(seen, true));
        });
    }
    differ
}

fn count_integers(chunks: &[ArrayRef], n_rows: usize) -> Levels {
    let mut codes = RawCodes::with_capacity(n_rows);
    let mut interner = Interner::default();
    let mut coded = Vec::new();
    for chunk in chunks {
        for_each_integer(chunk, &mut |x| coded.push(x.map_or(MISSING, |x| interner.code(x))));
        codes.extend(coded.drain(..));
    }
    Levels::sorted(codes, &interner.into_values().into_iter().map(Level::Int).collect::<Vec<_>>())
}

fn count_numbers(chunks: &[ArrayRef], n_rows: usize) -> Levels {
    let mut codes = RawCodes::with_capacity(n_rows);
    let mut interner = Interner::default();
    let mut coded = Vec::new();
    for chunk in chunks {
        for_each_number(chunk, &mut |x| {
            coded.push(x.filter(|x| !x.is_nan()).map_or(MISSING, |x| interner.code(number_key(x))));
        });
        codes.extend(coded.drain(..));
    }
    Levels::sorted(
        codes,
        &interner.into_values().into_iter().map(|bits| Level::Real(f64::from_bits(bits))).collect::<Vec<_>>(),
    )
}

/// How many distinct values are shown to Python at most, unless it asks for all.
pub const SHOWN: usize = DISTINCT_CAP;
