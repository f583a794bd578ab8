//! The Arrow C stream interface: chunks of any producer, without its library.
//!
//! Schema and chunks are read column by column, because a column whose type we cannot read (a list, a map, a type of the
//! producer's own) must not keep us from the others: it stays without chunks, with the reason beside it.

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use arbornet_core::{Control, Error};
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::values::{Class, class};
use crate::errors::CoreError;

/// A column as its producer describes it, and its chunks.
pub struct Source {
    pub name: String,
    pub class: Class,
    pub data_type: DataType,
    /// True if the producer declared a dictionary whose order means something.
    pub ordered: bool,
    pub chunks: Vec<ArrayRef>,
}

/// Rows a table may have. Columns of nothing take no memory of their producer, however long they claim to be, but ours.
const MOST_ROWS: usize = u32::MAX as usize;

fn broken(problem: impl std::fmt::Display) -> CoreError {
    CoreError(Error::Shape(format!("the Arrow stream cannot be read: {problem}")))
}

fn last_error(stream: &mut FFI_ArrowArrayStream, code: i32) -> CoreError {
    // SAFETY: the callback belongs to this stream; the text it returns is valid until the next call.
    let text = stream.get_last_error().and_then(|of| unsafe {
        let text = of(stream);
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    });
    broken(text.unwrap_or_else(|| format!("its producer returned error {code}")))
}

/// Polars writes integers of 128 bits under a name of its own; they are laid out as decimals without a fraction.
fn data_type(schema: &FFI_ArrowSchema) -> Result<DataType, String> {
    if schema.format() == "_pli128" {
        return Ok(DataType::Decimal128(38, 0));
    }
    DataType::try_from(schema).map_err(|_| format!("is of the type '{}' of its producer", schema.format()))
}

/// A column's name; the library's own reading of it panics on bytes that are no text.
fn name(schema: &FFI_ArrowSchema) -> Result<String, CoreError> {
    // SAFETY: the interface lays a schema out in C, its name after its format, a text that ends in a zero byte or null.
    let bytes = unsafe {
        let name = std::ptr::from_ref(schema).cast::<*const c_char>().add(1).read();
        if name.is_null() { c"" } else { CStr::from_ptr(name) }
    };
    let told = || broken(format!("a column's name is not UTF-8 ({}); rename it", bytes.to_string_lossy()));
    bytes.to_str().map(str::to_owned).map_err(|_| told())
}

fn describe(schema: &FFI_ArrowSchema) -> Result<Source, CoreError> {
    let name = name(schema)?;
    let (data_type, class) = match data_type(schema) {
        Ok(data_type) => (data_type.clone(), class(&data_type)),
        Err(problem) => (DataType::Null, Class::Unreadable(problem)),
    };
    // Polars before 1.30 exported an Enum without the ordered bit. What others keep there need be no text.
    let metadata = schema.metadata().unwrap_or_default();
    let is_enum = metadata.keys().any(|key| key.starts_with("_PL_ENUM_VALUES"));
    let ordered = matches!(data_type, DataType::Dictionary(..)) && (schema.dictionary_ordered() || is_enum);
    Ok(Source { name, class, data_type, ordered, chunks: Vec::new() })
}

/// A child of an array as an array of its own, which keeps its parent alive.
fn child(parent: &Arc<FFI_ArrowArray>, index: usize) -> FFI_ArrowArray {
    unsafe extern "C" fn let_go(array: *mut FFI_ArrowArray) {
        // SAFETY: called once, on the copy made below, whose private data is the box made below.
        unsafe {
            drop(Box::from_raw((*array).private_data().cast::<Arc<FFI_ArrowArray>>()));
            (*array).set_release(None);
        }
    }
    let owner = Box::into_raw(Box::new(parent.clone()));
    // SAFETY: a bitwise copy of the child whose release does not touch the child but lets go of the parent, which will
    // release it. Until then all its pointers are valid.
    unsafe {
        let mut copy = std::ptr::read(parent.child(index));
        copy.set_release(Some(let_go));
        copy.set_private_data(owner.cast());
        copy
    }
}

/// Which rows of a table are not null as a whole, if any is.
fn valid_rows(table: &FFI_ArrowArray) -> Option<NullBuffer> {
    if table.null_count_opt() == Some(0) || table.num_buffers() == 0 || table.buffer(0).is_null() {
        return None;
    }
    let n_bytes = (table.offset() + table.len()).div_ceil(8);
    // SAFETY: the validity bitmap of an array covers its offset and its length.
    let bytes = unsafe { std::slice::from_raw_parts(table.buffer(0), n_bytes) };
    let nulls = NullBuffer::new(BooleanBuffer::new(Buffer::from(bytes), table.offset(), table.len()));
    (nulls.null_count() > 0).then_some(nulls)
}

fn import(array: FFI_ArrowArray, data_type: &DataType) -> Result<ArrayData, CoreError> {
    // SAFETY: the producer promises that its arrays are laid out as its schema says.
    unsafe { from_ffi_and_data_type(array, data_type.clone()) }.map_err(broken)
}

/// A column of a chunk: the table's rows of it, null where the whole row is.
fn import_child(
    table: &Arc<FFI_ArrowArray>,
    index: usize,
    data_type: &DataType,
    rows: Option<&NullBuffer>,
) -> Result<ArrayRef, CoreError> {
    let mut data = import(child(table, index), data_type)?;
    if table.offset() != 0 || data.len() != table.len() {
        data = data.slice(table.offset(), table.len());
    }
    if let Some(rows) = rows.filter(|_| !data.data_type().is_null()) {
        let nulls = NullBuffer::union(Some(rows), data.nulls());
        // SAFETY: only the validity changes, and it covers the same rows.
        data = unsafe { data.into_builder().nulls(nulls).build_unchecked() };
    }
    Ok(make_array(data))
}

/// The stream inside a capsule, taken over: the capsule is left empty, as the interface demands.
fn take_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<FFI_ArrowArrayStream> {
    let pointer = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a valid stream, which we move out.
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr().cast()) })
}

/// Where chunks come from: a stream, or a single array.
enum Chunks {
    Stream(FFI_ArrowArrayStream),
    Single(Option<FFI_ArrowArray>),
}

impl Chunks {
    fn next(&mut self) -> Result<Option<FFI_ArrowArray>, CoreError> {
        let stream = match self {
            Self::Single(array) => return Ok(array.take()),
            Self::Stream(stream) => stream,
        };
        let get_next = stream.get_next().ok_or_else(|| broken("it has ended"))?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the callback belongs to this stream and fills what we own.
        let code = unsafe { get_next(&raw mut *stream, &raw mut array) };
        if code != 0 {
            return Err(last_error(stream, code));
        }
        Ok((!array.is_released()).then_some(array))
    }
}

fn open(mut stream: FFI_ArrowArrayStream) -> Result<(FFI_ArrowSchema, Chunks), CoreError> {
    let get_schema = stream.get_schema().ok_or_else(|| broken("it was read before; make a new one"))?;
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the callback belongs to this stream and fills what we own.
    let code = unsafe { get_schema(&raw mut stream, &raw mut schema) };
    if code != 0 {
        return Err(last_error(&mut stream, code));
    }
    Ok((schema, Chunks::Stream(stream)))
}

fn read(
    schema: &FFI_ArrowSchema,
    mut chunks: Chunks,
    wanted: Option<&[String]>,
    control: &Control,
) -> Result<(usize, Vec<Source>), CoreError> {
    let is_table = schema.format() == "+s";
    let mut sources = if is_table {
        schema.children().map(describe).collect::<Result<Vec<_>, _>>()?
    } else {
        vec![describe(schema)?]
    };
    let is_wanted = |source: &Source| !is_table || wanted.is_none_or(|wanted| wanted.contains(&source.name));
    let mut n_rows = 0;
    while let Some(array) = chunks.next()? {
        control.check()?;
        if array.is_empty() {
            continue;
        }
        n_rows += array.len();
        if n_rows > MOST_ROWS {
            return Err(broken(format!("it has more than {MOST_ROWS} rows; read a part of them")));
        }
        if !is_table {
            let chunk = make_array(import(array, &sources[0].data_type)?);
            sources[0].chunks.push(chunk);
            continue;
        }
        if array.num_children() != sources.len() {
            return Err(broken("a chunk has another number of columns than the schema"));
        }
        let rows = valid_rows(&array);
        let table = Arc::new(array);
        for (index, source) in sources.iter_mut().enumerate() {
            if is_wanted(source) && !matches!(source.class, Class::Unreadable(_)) {
                let chunk = import_child(&table, index, &source.data_type, rows.as_ref())?;
                source.chunks.push(chunk);
            }
        }
    }
    sources.retain(is_wanted);
    Ok((n_rows, sources))
}

/// What a capsule held, taken over and not yet read: reading needs no GIL, and may take as long as the producer likes.
pub struct Opened(Interface);

enum Interface {
    Stream(FFI_ArrowArrayStream),
    Array(FFI_ArrowSchema, FFI_ArrowArray),
}

/// What a producer hands over. One that is written in Rust may panic (Polars does on a decimal of more digits than it
/// has); that is an exception no user expects to catch.
fn asked<'py>(object: &Bound<'py, PyAny>, interface: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    object.call_method0(interface).map_err(|error| match error.get_type(py).name() {
        Ok(name) if name == "PanicException" => broken(format!("its producer failed: {}", error.value(py))).into(),
        _ => error,
    })
}

impl Opened {
    /// Takes an object with `__arrow_c_stream__` or `__arrow_c_array__`.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if object.hasattr("__arrow_c_stream__")? {
            let capsule = asked(object, "__arrow_c_stream__")?;
            return Ok(Self(Interface::Stream(take_stream(capsule.cast::<PyCapsule>()?)?)));
        }
        let pair = asked(object, "__arrow_c_array__")?;
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) = pair.extract()?;
        let schema = schema.pointer_checked(Some(c"arrow_schema"))?;
        let array = array.pointer_checked(Some(c"arrow_array"))?;
        // SAFETY: capsules of these names hold a valid schema and a valid array, which we move out.
        let (schema, array) = unsafe {
            (FFI_ArrowSchema::from_raw(schema.as_ptr().cast()), FFI_ArrowArray::from_raw(array.as_ptr().cast()))
        };
        Ok(Self(Interface::Array(schema, array)))
    }

    /// Reads it to its end: the number of rows, and the columns, of a table only the wanted ones, if given. Stops
    /// between two chunks.
    pub fn read(self, wanted: Option<&[String]>, control: &Control) -> Result<(usize, Vec<Source>), CoreError> {
        let (schema, chunks) = match self.0 {
            Interface::Stream(stream) => open(stream)?,
            Interface::Array(schema, array) => (schema, Chunks::Single(Some(array))),
        };
        read(&schema, chunks, wanted, control)
    }
}
