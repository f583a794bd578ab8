//! What an Arrow array holds, and its values one after another, whatever its layout.
//!
//! Points in time are days since 1970-01-01, spans of time and times of day are seconds.

use arbornet_core::Level;
use arbornet_core::frame::{MISSING, RawCodes, TextInterner};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, GenericStringArray, OffsetSizeTrait};
use arrow_buffer::i256;
use arrow_schema::{DataType, TimeUnit};

/// What a column's values are, whatever their layout.
#[derive(Clone, Debug, PartialEq)]
pub enum Class {
    Text,
    Truth,
    Integer,
    Number,
    Date,
    /// With its time zone.
    Datetime(Option<String>),
    /// With the unit of its whole numbers.
    Duration(TimeUnit),
    Time,
    /// No value at all.
    Nothing,
    /// With the reason.
    Unreadable(String),
}

impl Class {
    /// The word Python knows it by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Truth => "truth",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Date => "date",
            Self::Datetime(_) => "datetime",
            Self::Duration(_) => "duration",
            Self::Time => "time",
            Self::Nothing => "nothing",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

/// The class of an Arrow type.
pub fn class(data_type: &DataType) -> Class {
    use DataType as D;
    match data_type {
        D::Utf8 | D::LargeUtf8 | D::Utf8View => Class::Text,
        D::Boolean => Class::Truth,
        D::Decimal32(_, scale) | D::Decimal64(_, scale) | D::Decimal128(_, scale) | D::Decimal256(_, scale) => {
            if *scale == 0 { Class::Integer } else { Class::Number }
        }
        numeric if numeric.is_integer() => Class::Integer,
        numeric if numeric.is_floating() => Class::Number,
        D::Date32 | D::Date64 => Class::Date,
        D::Timestamp(_, zone) => Class::Datetime(zone.as_ref().map(ToString::to_string)),
        D::Duration(unit) => Class::Duration(*unit),
        D::Time32(_) | D::Time64(_) => Class::Time,
        D::Null => Class::Nothing,
        D::Dictionary(_, values) => class(values),
        D::Binary | D::LargeBinary | D::BinaryView | D::FixedSizeBinary(_) => {
            Class::Unreadable("holds bytes".to_owned())
        }
        D::List(_) | D::LargeList(_) | D::ListView(_) | D::LargeListView(_) => {
            Class::Unreadable("holds lists".to_owned())
        }
        D::FixedSizeList(_, n) => Class::Unreadable(format!("holds arrays of {n} values")),
        D::Struct(_) => Class::Unreadable("holds structs".to_owned()),
        D::Map(..) => Class::Unreadable("holds maps".to_owned()),
        other => Class::Unreadable(format!("holds values of the type {other}")),
    }
}

fn units_per_second(unit: TimeUnit) -> f64 {
    match unit {
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e3,
        TimeUnit::Microsecond => 1e6,
        TimeUnit::Nanosecond => 1e9,
    }
}

fn each<T: ArrowPrimitiveType, V>(
    array: &dyn Array,
    to: impl Fn(T::Native) -> V,
    f: &mut (impl FnMut(Option<V>) + ?Sized),
) {
    let array = array.as_primitive::<T>();
    match array.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => array.values().iter().for_each(|&value| f(Some(to(value)))),
        Some(nulls) => {
            for (value, valid) in array.values().iter().zip(nulls) {
                f(valid.then(|| to(*value)));
            }
        }
    }
}

fn each_by_dictionary<V: Copy>(array: &dyn Array, values: &[Option<V>], f: &mut (impl FnMut(Option<V>) + ?Sized)) {
    for_each_key(array, &mut |key| {
        f(key.and_then(|key| values.get(key as usize).copied().flatten()));
    });
}

/// The values themselves, if they lie there as floats without gaps.
pub fn plain_numbers(array: &dyn Array) -> Option<&[f64]> {
    let array = array.as_primitive_opt::<Float64Type>()?;
    (array.null_count() == 0).then(|| array.values().as_ref())
}

/// Calls `f` with every value as a number in the unit of its class, `None` for null.
pub fn for_each_number(array: &dyn Array, f: &mut (impl FnMut(Option<f64>) + ?Sized)) {
    use DataType as D;
    const DAY: f64 = 86_400.0;
    match array.data_type() {
        D::Float64 => each::<Float64Type, _>(array, |x| x, f),
        D::Float32 => each::<Float32Type, _>(array, f64::from, f),
        D::Float16 => each::<Float16Type, _>(array, f64::from, f),
        D::Int8 => each::<Int8Type, _>(array, f64::from, f),
        D::Int16 => each::<Int16Type, _>(array, f64::from, f),
        D::Int32 => each::<Int32Type, _>(array, f64::from, f),
        D::Int64 => each::<Int64Type, _>(array, |x| x as f64, f),
        D::UInt8 => each::<UInt8Type, _>(array, f64::from, f),
        D::UInt16 => each::<UInt16Type, _>(array, f64::from, f),
        D::UInt32 => each::<UInt32Type, _>(array, f64::from, f),
        D::UInt64 => each::<UInt64Type, _>(array, |x| x as f64, f),
        D::Decimal32(_, s) => each::<Decimal32Type, _>(array, |x| decimal(f64::from(x), *s), f),
        D::Decimal64(_, s) => each::<Decimal64Type, _>(array, |x| decimal(x as f64, *s), f),
        D::Decimal128(_, s) => each::<Decimal128Type, _>(array, |x| decimal(x as f64, *s), f),
        D::Decimal256(_, s) => each::<Decimal256Type, _>(array, |x| decimal(big(x), *s), f),
        D::Date32 => each::<Date32Type, _>(array, f64::from, f),
        D::Date64 => each::<Date64Type, _>(array, |x| x as f64 / (DAY * 1e3), f),
        D::Timestamp(unit, _) => {
            let scale = DAY * units_per_second(*unit);
            let to = |x: i64| x as f64 / scale;
            match unit {
                TimeUnit::Second => each::<TimestampSecondType, _>(array, to, f),
                TimeUnit::Millisecond => each::<TimestampMillisecondType, _>(array, to, f),
                TimeUnit::Microsecond => each::<TimestampMicrosecondType, _>(array, to, f),
                TimeUnit::Nanosecond => each::<TimestampNanosecondType, _>(array, to, f),
            }
        }
        D::Duration(unit) => {
            let scale = units_per_second(*unit);
            let to = |x: i64| x as f64 / scale;
            match unit {
                TimeUnit::Second => each::<DurationSecondType, _>(array, to, f),
                TimeUnit::Millisecond => each::<DurationMillisecondType, _>(array, to, f),
                TimeUnit::Microsecond => each::<DurationMicrosecondType, _>(array, to, f),
                TimeUnit::Nanosecond => each::<DurationNanosecondType, _>(array, to, f),
            }
        }
        D::Time32(TimeUnit::Second) => each::<Time32SecondType, _>(array, f64::from, f),
        D::Time32(_) => each::<Time32MillisecondType, _>(array, |x| f64::from(x) / 1e3, f),
        D::Time64(TimeUnit::Microsecond) => each::<Time64MicrosecondType, _>(array, |x| x as f64 / 1e6, f),
        D::Time64(_) => each::<Time64NanosecondType, _>(array, |x| x as f64 / 1e9, f),
        D::Dictionary(..) => {
            let mut values = Vec::new();
            let push: &mut dyn FnMut(Option<f64>) = &mut |x| values.push(x);
            for_each_number(array.as_any_dictionary().values(), push);
            each_by_dictionary(array, &values, f);
        }
        _ => (0..array.len()).for_each(|_| f(None)),
    }
}

fn decimal(units: f64, scale: i8) -> f64 {
    units / 10_f64.powi(i32::from(scale))
}

/// By its size and its sign: in two's complement small negative numbers are a difference of two large ones.
fn big(value: i256) -> f64 {
    let (low, high) = value.wrapping_abs().to_parts();
    let size = (high as u128) as f64 * 2_f64.powi(128) + low as f64;
    if value.is_negative() { -size } else { size }
}

/// Calls `f` with every whole number, `None` for null. Values beyond 64 bits are cut to the nearest.
pub fn for_each_integer(array: &dyn Array, f: &mut (impl FnMut(Option<i64>) + ?Sized)) {
    use DataType as D;
    match array.data_type() {
        D::Dictionary(..) => {
            let mut values = Vec::new();
            let push: &mut dyn FnMut(Option<i64>) = &mut |x| values.push(x);
            for_each_integer(array.as_any_dictionary().values(), push);
            each_by_dictionary(array, &values, f);
        }
        D::Decimal32(..) => each::<Decimal32Type, _>(array, i64::from, f),
        D::Decimal64(..) => each::<Decimal64Type, _>(array, |x| x, f),
        D::Decimal128(..) => each::<Decimal128Type, _>(array, |x| cut(x.try_into().ok(), x < 0), f),
        D::Decimal256(..) => each::<Decimal256Type, _>(array, |x| cut(narrowed(x), x.is_negative()), f),
        _ => each_whole(array, f),
    }
}

fn narrowed(value: i256) -> Option<i64> {
    let (low, high) = value.to_parts();
    let low = low as i128;
    i64::try_from(low).ok().filter(|_| high == low >> 127)
}

fn cut(whole: Option<i64>, negative: bool) -> i64 {
    whole.unwrap_or(if negative { i64::MIN } else { i64::MAX })
}

/// Calls `f` with every whole number, or the whole number behind every time, however large; `None` for null.
pub fn for_each_wide(array: &dyn Array, f: &mut dyn FnMut(Option<i256>)) {
    use DataType as D;
    match array.data_type() {
        D::Dictionary(..) => {
            let mut values = Vec::new();
            for_each_wide(array.as_any_dictionary().values(), &mut |x| values.push(x));
            each_by_dictionary(array, &values, f);
        }
        D::UInt64 => each::<UInt64Type, _>(array, |x| i256::from_i128(x.into()), f),
        D::Decimal32(..) => each::<Decimal32Type, _>(array, |x| i256::from_i128(x.into()), f),
        D::Decimal64(..) => each::<Decimal64Type, _>(array, |x| i256::from_i128(x.into()), f),
        D::Decimal128(..) => each::<Decimal128Type, _>(array, i256::from_i128, f),
        D::Decimal256(..) => each::<Decimal256Type, _>(array, |x| x, f),
        D::Timestamp(TimeUnit::Nanosecond, _) => {
            each::<TimestampNanosecondType, _>(array, |x| i256::from_i128(x.into()), f);
        }
        D::Duration(TimeUnit::Nanosecond) => {
            each::<DurationNanosecondType, _>(array, |x| i256::from_i128(x.into()), f);
        }
        _ => each_whole(array, &mut |x: Option<i64>| f(x.map(|x| i256::from_i128(x.into())))),
    }
}

/// Calls `f` with the place in the dictionary of every row's value.
pub fn for_each_key(array: &dyn Array, f: &mut (impl FnMut(Option<i64>) + ?Sized)) {
    each_whole(array.as_any_dictionary().keys(), f);
}

fn each_whole(array: &dyn Array, f: &mut (impl FnMut(Option<i64>) + ?Sized)) {
    use DataType as D;
    match array.data_type() {
        D::Int8 => each::<Int8Type, _>(array, i64::from, f),
        D::Int16 => each::<Int16Type, _>(array, i64::from, f),
        D::Int32 => each::<Int32Type, _>(array, i64::from, f),
        D::Int64 => each::<Int64Type, _>(array, |x| x, f),
        D::UInt8 => each::<UInt8Type, _>(array, i64::from, f),
        D::UInt16 => each::<UInt16Type, _>(array, i64::from, f),
        D::UInt32 => each::<UInt32Type, _>(array, i64::from, f),
        _ => each::<UInt64Type, _>(array, |x| i64::try_from(x).unwrap_or(i64::MAX), f),
    }
}

/// Calls `f` with every text's bytes, `None` for null.
fn for_each_text(array: &dyn Array, f: &mut impl FnMut(Option<&[u8]>)) {
    fn offsets<O: OffsetSizeTrait>(array: &GenericStringArray<O>, f: &mut impl FnMut(Option<&[u8]>)) {
        let bytes = array.value_data();
        for (row, ends) in array.value_offsets().windows(2).enumerate() {
            f(array.is_valid(row).then(|| &bytes[ends[0].as_usize()..ends[1].as_usize()]));
        }
    }
    match array.data_type() {
        DataType::Utf8 => offsets(array.as_string::<i32>(), f),
        DataType::LargeUtf8 => offsets(array.as_string::<i64>(), f),
        DataType::Utf8View => {
            let array = array.as_string_view();
            for row in 0..array.len() {
                f(array.is_valid(row).then(|| array.value(row).as_bytes()));
            }
        }
        _ => (0..array.len()).for_each(|_| f(None)),
    }
}

/// Appends the codes of a text array.
pub fn code_texts(array: &dyn Array, interner: &mut TextInterner, codes: &mut RawCodes) {
    match array.data_type() {
        DataType::Utf8View => code_views(array, interner, codes),
        DataType::Utf8 => code_offsets(array.as_string::<i32>(), interner, codes),
        DataType::LargeUtf8 => code_offsets(array.as_string::<i64>(), interner, codes),
        DataType::Dictionary(..) => {
            // Only values that occur get a code, so that a shared dictionary costs what is used of it.
            let mut values = Vec::new();
            for_each_text(array.as_any_dictionary().values(), &mut |text| values.push(text.map(<[u8]>::to_vec)));
            let mut known = vec![None; values.len()];
            let mut coded = Vec::with_capacity(array.len());
            for_each_key(array, &mut |key| {
                let code = key.map(|key| key as usize).filter(|&key| key < values.len()).map(|key| {
                    *known[key].get_or_insert_with(|| values[key].as_ref().map_or(MISSING, |text| interner.code(text)))
                });
                coded.push(code.unwrap_or(MISSING));
            });
            codes.extend(coded.into_iter());
        }
        _ => codes.extend(std::iter::repeat_n(MISSING, array.len())),
    }
}

fn code_offsets<O: OffsetSizeTrait>(array: &GenericStringArray<O>, interner: &mut TextInterner, codes: &mut RawCodes) {
    let bytes = array.value_data();
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    codes.extend(array.value_offsets().windows(2).enumerate().map(|(row, ends)| {
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            MISSING
        } else {
            interner.code(&bytes[ends[0].as_usize()..ends[1].as_usize()])
        }
    }));
}

fn code_views(array: &dyn Array, interner: &mut TextInterner, codes: &mut RawCodes) {
    let array = array.as_string_view();
    let buffers = array.data_buffers();
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    codes.extend(array.views().iter().enumerate().map(|(row, &view)| {
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return MISSING;
        }
        let length = (view as u32) as usize;
        if length <= 12 {
            // Producers should leave the unused bytes zero; a mask costs less than trust.
            return interner.inline_code(view & (u128::MAX >> (8 * (12 - length))));
        }
        let (buffer, offset) = ((view >> 64) as u32 as usize, (view >> 96) as u32 as usize);
        interner.code(&buffers[buffer][offset..offset + length])
    }));
}

fn fits_64_bits(array: &dyn Array) -> bool {
    if let Some(unsigned) = array.as_primitive_opt::<UInt64Type>() {
        return unsigned.iter().flatten().all(|x| i64::try_from(x).is_ok());
    }
    let (end, mut fits) = (2_f64.powi(63), true);
    if !array.data_type().is_integer() {
        for_each_number(array, &mut |x| fits &= x.is_none_or(|x| (-end..end).contains(&x)));
    }
    fits
}

/// The values of a dictionary as levels, in its order.
pub fn levels_of(array: &dyn Array) -> Result<Vec<Option<Level>>, String> {
    let mut levels = Vec::with_capacity(array.len());
    match class(array.data_type()) {
        Class::Text => {
            let mut bad = None;
            for_each_text(array, &mut |text| {
                levels.push(text.and_then(|text| match text_level(text) {
                    Ok(level) => Some(level),
                    Err(problem) => {
                        bad = Some(problem);
                        None
                    }
                }));
            });
            if let Some(problem) = bad {
                return Err(problem);
            }
        }
        Class::Truth => {
            let array = array.as_boolean();
            levels.extend((0..array.len()).map(|i| array.is_valid(i).then(|| Level::Bool(array.value(i)))));
        }
        Class::Integer => {
            if !fits_64_bits(array) {
                return Err("declares whole numbers beyond 64 bits as levels".to_owned());
            }
            for_each_integer(array, &mut |x| levels.push(x.map(Level::Int)));
        }
        Class::Number => for_each_number(array, &mut |x| {
            levels.push(x.filter(|x| !x.is_nan()).map(|x| Level::Real(x + 0.0)));
        }),
        Class::Nothing => levels.resize(array.len(), None),
        class => return Err(format!("has a dictionary of {} values", class.name())),
    }
    Ok(levels)
}

/// A text as a level, if it is one.
pub fn text_level(bytes: &[u8]) -> Result<Level, String> {
    std::str::from_utf8(bytes)
        .map(|text| Level::Text(text.into()))
        .map_err(|_| format!("holds bytes that are not UTF-8: {}", String::from_utf8_lossy(bytes)))
}
