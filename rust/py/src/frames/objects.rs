//! Plain columns: `NumPy` arrays, taken where they lie, and Python objects, looked at one by one.

use std::ptr::NonNull;
use std::sync::Arc;

use arbornet_core::frame::{MISSING, RawCodes};
use arbornet_core::{Control, Error, Level};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ArrowTimestampType, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, LargeStringArray, NullArray,
    PrimitiveArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::DataType;
use numpy::{
    Element, PyArray1, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString, PyTuple};

use super::column::RawColumn;
use super::stream::{Opened, Source};
use super::values::{class, levels_of};
use crate::arrays::values as values_of;
use crate::errors::CoreError;
use crate::jobs::watched_or_left;
use crate::stop;

/// A column in one of the ways Python hands it over, beside Arrow streams.
enum Payload<'py> {
    /// Codes into categories, -1 for none, and whether their order means something.
    Categories((PyReadonlyArray1<'py, i64>, Vec<Bound<'py, PyAny>>, bool)),
    /// A contiguous array, where it has no value, and the unit of its integers if they are times: "duration:ns", or
    /// "timestamp:us", which the name of its time zone may follow ("timestamp:us:Asia/Tokyo").
    Array((Bound<'py, PyUntypedArray>, Option<PyReadonlyArray1<'py, bool>>, Option<String>)),
    /// Any objects.
    Objects(Vec<Bound<'py, PyAny>>),
}

impl<'py> Payload<'py> {
    /// Which way it is is looked at first, and not tried: an extraction that fails writes the array's dtype into its error,
    /// which runs Python, and an interrupt that strikes there is lost with the error.
    fn of(payload: &Bound<'py, PyAny>) -> PyResult<Self> {
        let Ok(parts) = payload.cast::<PyTuple>() else { return Ok(Self::Objects(payload.extract()?)) };
        Ok(if parts.len() == 3 && parts.get_item(2)?.is_instance_of::<PyBool>() {
            Self::Categories(parts.extract()?)
        } else {
            Self::Array(parts.extract()?)
        })
    }
}

fn column_error(name: &str, problem: impl Into<String>, advice: &str) -> PyErr {
    CoreError(Error::column(name, problem, advice)).into()
}

/// Makes a raw column of what Python hands over.
pub fn column(name: &str, payload: &Bound<'_, PyAny>) -> PyResult<RawColumn> {
    let py = payload.py();
    stop::check(py)?;
    if payload.hasattr("__arrow_c_stream__")? || payload.hasattr("__arrow_c_array__")? {
        let (opened, control) = (Opened::of(payload)?, Arc::new(Control::default()));
        let (n_rows, mut sources) = watched_or_left(py, &control.clone(), None, move || opened.read(None, &control))??;
        if sources.len() != 1 {
            return Err(column_error(name, "is a table, not one column", "give one value per row"));
        }
        let mut source = sources.swap_remove(0);
        name.clone_into(&mut source.name);
        return compact(py, source, n_rows);
    }
    let chunks = match Payload::of(payload)? {
        Payload::Categories((codes, categories, ordered)) => return declared(name, &codes, &categories, ordered),
        Payload::Array((array, missing, unit)) => {
            let Some(values) = of_numpy(name, &array, missing.as_ref(), unit.as_deref())? else {
                let problem = format!("is an array of dtype {}", array.dtype());
                return Ok(RawColumn::unreadable(name.to_owned(), problem, array.len()));
            };
            vec![values]
        }
        Payload::Objects(objects) => match first_alien(&objects)? {
            Some(problem) => return Ok(RawColumn::unreadable(name.to_owned(), problem, objects.len())),
            None => vec![of_objects(name, &objects)?],
        },
    };
    let data_type = chunks[0].data_type().clone();
    let n_rows = chunks[0].len();
    let source = Source { name: name.to_owned(), class: class(&data_type), data_type, ordered: false, chunks };
    compact(py, source, n_rows)
}

fn compact(py: Python<'_>, source: Source, n_rows: usize) -> PyResult<RawColumn> {
    let compacted = watched_or_left(py, &Control::default(), None, move || RawColumn::new(source, n_rows))?;
    Ok(compacted.map_err(CoreError)?)
}

fn declared(
    name: &str,
    codes: &PyReadonlyArray1<'_, i64>,
    categories: &[Bound<'_, PyAny>],
    ordered: bool,
) -> PyResult<RawColumn> {
    let values = of_objects(name, categories)?;
    let class = class(values.data_type());
    let levels = levels_of(&values).map_err(|problem| column_error(name, problem, "convert the categories to text"))?;
    let levels: Vec<Level> = levels.into_iter().flatten().collect();
    let n = levels.len() as i64;
    let mut raw = RawCodes::with_capacity(codes.as_array().len());
    raw.extend(codes.as_array().iter().map(|&code| if (0..n).contains(&code) { code as u32 } else { MISSING }));
    Ok(RawColumn::declared(name.to_owned(), class, ordered, raw, levels))
}

/// Keeps a `NumPy` array alive while Arrow looks at its memory.
struct Owner(#[allow(dead_code)] Py<PyAny>);
impl std::panic::RefUnwindSafe for Owner {}

fn primitive<T>(array: &Bound<'_, PyUntypedArray>, missing: Option<&PyReadonlyArray1<'_, bool>>) -> PyResult<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: Element,
{
    let typed = array.cast::<PyArray1<T::Native>>()?;
    let len = typed.len();
    let values: ScalarBuffer<T::Native> = match NonNull::new(typed.data().cast::<u8>()) {
        Some(pointer) if len > 0 && typed.is_contiguous() && typed.data().is_aligned() => {
            let owner = Arc::new(Owner(array.clone().into_any().unbind()));
            // SAFETY: the array is contiguous and aligned, and its owner lives as long as the buffer.
            let buffer = unsafe { Buffer::from_custom_allocation(pointer, len * size_of::<T::Native>(), owner) };
            ScalarBuffer::new(buffer, 0, len)
        }
        _ => values_of(&typed.readonly())?.into(),
    };
    Ok(Arc::new(PrimitiveArray::<T>::new(values, nulls(missing, len))))
}

fn nulls(missing: Option<&PyReadonlyArray1<'_, bool>>, len: usize) -> Option<NullBuffer> {
    let missing = missing?.as_array();
    Some(NullBuffer::new(BooleanBuffer::collect_bool(len, |row| !missing[row])))
}

/// An array's values; none if they are of a dtype that is not read.
fn of_numpy(
    name: &str,
    array: &Bound<'_, PyUntypedArray>,
    missing: Option<&PyReadonlyArray1<'_, bool>>,
    unit: Option<&str>,
) -> PyResult<Option<ArrayRef>> {
    if let Some(unit) = unit {
        let mut parts = unit.splitn(3, ':');
        let (class, size, zone) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next());
        let of_times = match (class, size) {
            ("timestamp", "s") => moments::<TimestampSecondType>(array, missing, zone),
            ("timestamp", "ms") => moments::<TimestampMillisecondType>(array, missing, zone),
            ("timestamp", "us") => moments::<TimestampMicrosecondType>(array, missing, zone),
            ("timestamp", "ns") => moments::<TimestampNanosecondType>(array, missing, zone),
            ("duration", "s") => times::<DurationSecondType>(array, missing),
            ("duration", "ms") => times::<DurationMillisecondType>(array, missing),
            ("duration", "us") => times::<DurationMicrosecondType>(array, missing),
            ("duration", "ns") => times::<DurationNanosecondType>(array, missing),
            _ => Err(column_error(name, format!("is in the unit '{unit}'"), "use s, ms, us or ns")),
        };
        return of_times.map(Some);
    }
    let kind = (array.dtype().kind(), array.dtype().itemsize());
    let values = match kind {
        (b'f', 8) => primitive::<Float64Type>(array, missing),
        (b'f', 4) => primitive::<Float32Type>(array, missing),
        (b'i', 8) => primitive::<Int64Type>(array, missing),
        (b'i', 4) => primitive::<Int32Type>(array, missing),
        (b'i', 2) => primitive::<Int16Type>(array, missing),
        (b'i', 1) => primitive::<Int8Type>(array, missing),
        (b'u', 8) => primitive::<UInt64Type>(array, missing),
        (b'u', 4) => primitive::<UInt32Type>(array, missing),
        (b'u', 2) => primitive::<UInt16Type>(array, missing),
        (b'u', 1) => primitive::<UInt8Type>(array, missing),
        (b'b', _) => {
            let truths: PyReadonlyArray1<'_, bool> = array.extract()?;
            let truths = truths.as_array();
            let values = BooleanBuffer::collect_bool(truths.len(), |row| truths[row]);
            Ok(Arc::new(BooleanArray::new(values, nulls(missing, truths.len()))) as ArrayRef)
        }
        _ => return Ok(None),
    };
    values.map(Some)
}

/// Reads integers as times.
fn times<T: ArrowPrimitiveType<Native = i64>>(
    array: &Bound<'_, PyUntypedArray>,
    missing: Option<&PyReadonlyArray1<'_, bool>>,
) -> PyResult<ArrayRef> {
    let values = primitive::<Int64Type>(array, missing)?;
    Ok(Arc::new(values.as_primitive::<Int64Type>().reinterpret_cast::<T>()))
}

/// Reads integers as points in time, in a zone if one is named.
fn moments<T: ArrowTimestampType>(
    array: &Bound<'_, PyUntypedArray>,
    missing: Option<&PyReadonlyArray1<'_, bool>>,
    zone: Option<&str>,
) -> PyResult<ArrayRef> {
    let values = primitive::<Int64Type>(array, missing)?;
    Ok(Arc::new(values.as_primitive::<Int64Type>().reinterpret_cast::<T>().with_timezone_opt(zone)))
}

/// One object's value.
enum Scalar {
    Missing,
    Truth(bool),
    Integer(i64),
    /// A whole number beyond 64 bits.
    Large(i128),
    Number(f64),
    /// A `Decimal`: its digits as a whole number, and how many of them stand behind the point.
    Decimal(i128, u32),
    Text(String),
}

impl Scalar {
    /// Values of one type may share a column; integers and other numbers are one type.
    fn type_name(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Truth(_) => "bool",
            Self::Integer(_) | Self::Large(_) | Self::Number(_) | Self::Decimal(..) => "number",
            Self::Text(_) => "str",
        }
    }
}

/// A whole number in the narrowest form that holds it.
fn whole(object: &Bound<'_, PyAny>) -> Scalar {
    if let Ok(value) = object.extract::<i64>() {
        return Scalar::Integer(value);
    }
    match object.extract::<i128>() {
        Ok(value) => Scalar::Large(value),
        Err(_) => Scalar::Number(object.extract().unwrap_or(f64::INFINITY)),
    }
}

/// More digits than this are read as a float.
const MOST_DIGITS: u32 = 38;

/// A `Decimal` with all its digits, if they are not too many.
fn decimal(object: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if object.call_method0("is_nan")?.is_truthy()? {
        return Ok(Scalar::Missing);
    }
    let float = || Ok(Scalar::Number(object.call_method0("__float__")?.extract()?));
    let (sign, digits, exponent): (u8, Vec<u8>, Bound<'_, PyAny>) = object.call_method0("as_tuple")?.extract()?;
    let Ok(exponent) = exponent.extract::<i32>() else { return float() }; // infinity has a letter there
    let units = digits.iter().try_fold(0_i128, |all, &digit| all.checked_mul(10)?.checked_add(digit.into()));
    let behind = exponent.min(0).unsigned_abs();
    let units = units.and_then(|units| units.checked_mul(10_i128.checked_pow(exponent.max(0).unsigned_abs())?));
    match units.filter(|units| behind <= MOST_DIGITS && *units < 10_i128.pow(MOST_DIGITS)) {
        Some(units) => Ok(Scalar::Decimal(if sign == 1 { -units } else { units }, behind)),
        None => float(),
    }
}

/// A column of decimals, and of whole numbers among them, with as many digits behind the point as the longest has; None
/// where that makes too many digits.
fn decimals(values: &[Scalar]) -> Option<ArrayRef> {
    let behind = |value: &Scalar| if let Scalar::Decimal(_, behind) = value { *behind } else { 0 };
    let scale = values.iter().map(behind).max()?;
    let units = |value: &Scalar| -> Option<Option<i128>> {
        let (units, behind) = match *value {
            Scalar::Missing => return Some(None),
            Scalar::Decimal(units, behind) => (units, behind),
            Scalar::Integer(units) => (units.into(), 0),
            Scalar::Large(units) => (units, 0),
            _ => return None,
        };
        let units = units.checked_mul(10_i128.checked_pow(scale - behind)?)?;
        (units.unsigned_abs() < 10_u128.pow(MOST_DIGITS)).then_some(Some(units))
    };
    let units = values.iter().map(units).collect::<Option<Vec<_>>>()?;
    let array: Decimal128Array = units.into_iter().collect();
    Some(Arc::new(array.with_data_type(DataType::Decimal128(38, scale as i8))))
}

fn scalar(name: &str, row: usize, object: &Bound<'_, PyAny>) -> PyResult<Scalar> {
    if object.is_none() {
        return Ok(Scalar::Missing);
    }
    if let Ok(text) = object.cast::<PyString>() {
        let Ok(text) = text.to_cow() else {
            let problem = format!("holds {} in row {row}, which is not valid unicode", text.repr()?);
            return Err(column_error(name, problem, "replace lone surrogates first"));
        };
        return Ok(Scalar::Text(text.into_owned()));
    }
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(Scalar::Truth(truth.is_true()));
    }
    if let Ok(number) = object.cast::<PyFloat>() {
        let value = number.value();
        return Ok(if value.is_nan() { Scalar::Missing } else { Scalar::Number(value) });
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(whole(object));
    }
    let type_name = object.get_type().name()?;
    let type_name = type_name.to_cow()?;
    match &*type_name {
        "NAType" | "NaTType" => return Ok(Scalar::Missing),
        "Decimal" => return decimal(object),
        _ => {}
    }
    // A NumPy scalar knows its Python value.
    if is_of_numpy(object)? {
        let item = object.call_method0("item")?;
        if !item.hasattr("dtype")? && !item.is_instance_of::<PyBytes>() {
            return scalar(name, row, &item);
        }
    }
    let problem = format!("holds {} of type {type_name} in row {row}", short(object));
    Err(column_error(name, problem, "a value is a text, a number, a boolean, a date or None"))
}

/// What a column of objects holds instead of single values: told of the first, as one further down mixes types. Times are
/// single values: those that get here are mixed with others.
fn first_alien(objects: &[Bound<'_, PyAny>]) -> PyResult<Option<String>> {
    for (row, object) in objects.iter().enumerate() {
        if row % 10_000 == 0 {
            stop::check(object.py())?;
        }
        // Not by `str()`, in which an interrupt would be lost.
        let type_name = object.get_type().name()?;
        let type_name = type_name.to_cow()?;
        if object.is_none() || matches!(&*type_name, "NAType" | "NaTType") {
            continue;
        }
        if object.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan()) {
            continue;
        }
        let is_single = object.is_instance_of::<PyString>()
            || object.is_instance_of::<PyFloat>()
            || object.is_instance_of::<PyInt>()
            || TIMES_AND_DECIMALS.contains(&&*type_name)
            || (is_of_numpy(object)? && !ALIENS.iter().any(|alien| type_name.starts_with(alien)));
        // The address of an object tells nobody anything.
        let shown = Some(short(object)).filter(|text| !text.starts_with('<')).unwrap_or("a value".to_owned());
        return Ok((!is_single).then(|| format!("holds {shown} of type {type_name} in row {row}")));
    }
    Ok(None)
}

const TIMES_AND_DECIMALS: [&str; 7] = ["Decimal", "date", "datetime", "time", "timedelta", "Timestamp", "Timedelta"];
/// How the names of those scalars of `NumPy` begin that are no single values here.
const ALIENS: [&str; 4] = ["bytes", "complex", "clongdouble", "void"];

/// Whether an object is a scalar of `NumPy`.
fn is_of_numpy(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let has_no_length = || object.getattr("ndim").and_then(|n| n.extract::<usize>()).is_ok_and(|n| n == 0);
    Ok(object.hasattr("dtype")? && object.hasattr("item")? && has_no_length())
}

fn short(object: &Bound<'_, PyAny>) -> String {
    let text = object.repr().map_or_else(|_| "a value".to_owned(), |text| text.to_string_lossy().into_owned());
    if text.chars().count() > 40 { text.chars().take(37).chain("...".chars()).collect() } else { text }
}

/// An Arrow array of objects of one type.
fn of_objects(name: &str, objects: &[Bound<'_, PyAny>]) -> PyResult<ArrayRef> {
    let mut values = Vec::with_capacity(objects.len());
    let mut first: Option<(usize, &'static str)> = None;
    let (mut fraction, mut large, mut decimal) = (false, false, false);
    for (row, object) in objects.iter().enumerate() {
        if row % 10_000 == 0 {
            stop::check(object.py())?;
        }
        let value = scalar(name, row, object)?;
        if !matches!(value, Scalar::Missing) {
            let (seen_in, seen) = *first.get_or_insert((row, value.type_name()));
            if seen != value.type_name() {
                let problem = format!(
                    "mixes types: {} of type {} in row {seen_in}, {} of type {} in row {row}",
                    short(&objects[seen_in]),
                    objects[seen_in].get_type().name()?,
                    short(object),
                    object.get_type().name()?
                );
                return Err(column_error(name, problem, "convert the column to one type, for example all to text"));
            }
            decimal |= matches!(value, Scalar::Decimal(..));
            fraction |= matches!(value, Scalar::Number(_) | Scalar::Decimal(_, 1..));
            large |= matches!(value, Scalar::Large(_));
        }
        values.push(value);
    }
    let texts = values.iter().map(|value| if let Scalar::Text(text) = value { Some(text) } else { None });
    let truths = values.iter().map(|value| if let Scalar::Truth(truth) = value { Some(*truth) } else { None });
    let integers = values.iter().map(|value| if let Scalar::Integer(i) = value { Some(*i) } else { None });
    let numbers = values.iter().map(|value| match value {
        Scalar::Number(x) => Some(*x),
        Scalar::Integer(i) => Some(*i as f64),
        Scalar::Large(i) => Some(*i as f64),
        Scalar::Decimal(units, behind) => Some(*units as f64 / 10_f64.powi(*behind as i32)),
        _ => None,
    });
    let wide = values.iter().map(|value| match value {
        Scalar::Integer(i) => Some(i128::from(*i)),
        Scalar::Large(i) => Some(*i),
        _ => None,
    });
    if decimal && let Some(exact) = decimals(&values) {
        return Ok(exact);
    }
    Ok(match first.map(|(_, type_name)| type_name) {
        None => Arc::new(NullArray::new(values.len())),
        Some("str") => Arc::new(texts.collect::<LargeStringArray>()),
        Some("bool") => Arc::new(truths.collect::<BooleanArray>()),
        Some(_) if fraction || decimal => Arc::new(numbers.collect::<Float64Array>()),
        // Whole numbers of 128 bits are decimals without a fraction.
        Some(_) if large => Arc::new(wide.collect::<Decimal128Array>().with_data_type(DataType::Decimal128(38, 0))),
        Some(_) => Arc::new(integers.collect::<Int64Array>()),
    })
}
