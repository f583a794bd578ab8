//! Checkpoints: a folder with a manifest that says what is being scored, and append-only files of records.
//!
//! Every file of records starts with a fingerprint of the manifest, so that files which strayed in from another run are
//! not read as this one's. Every record is framed by its length and a CRC-32 and written at once, so a process killed at any moment leaves whole
//! records and at most one torn one at the end, which is ignored. Each run appends to a file of its own: two runs on one
//! folder waste work but spoil nothing. What the kernel has not yet written is lost only if the machine itself stops;
//! files are synced every two seconds.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::constraints::Constraints;
use crate::error::{Error, Result};
use crate::table::{Codes, Column, Table};

use super::Step1;
use super::record::Record;
use super::space::Space;

const MAGIC: &[u8; 16] = b"arbornet step1\n\x02";
const SYNC: Duration = Duration::from_secs(2);

/// What a checkpoint is of: a run with another manifest is another run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    arbornet: String,
    n_rows: usize,
    columns: Vec<ColumnPrint>,
    score: String,
    max_parents: usize,
    constraints: String,
    block_sets: u64,
    /// What is left out for want of time is left out for good, so another limit is another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    child_seconds: Option<f64>,
    /// Sets that a subset beats were kept too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    keeps_all: bool,
    /// Of the rows, if they have some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ColumnPrint {
    name: String,
    kind: String,
    values: String,
}

impl Manifest {
    /// Of scoring a table's families.
    pub fn new(table: &Table, score: &str, max_parents: usize, constraints: &Constraints, step: &Step1) -> Self {
        let print = |v: usize| {
            let variable = table.variable(v);
            let kind = json(&variable.kind);
            ColumnPrint {
                name: variable.name.to_string(),
                kind: short(blake3::hash(&kind)),
                values: short(values(table.column(v))),
            }
        };
        let constraints = json(constraints);
        Self {
            arbornet: env!("CARGO_PKG_VERSION").to_owned(),
            n_rows: table.n_rows(),
            columns: (0..table.n_vars()).map(print).collect(),
            score: score.to_owned(),
            max_parents,
            constraints: short(blake3::hash(&constraints)),
            block_sets: step.block_sets(),
            child_seconds: None,
            keeps_all: step.spaces().iter().any(Space::keeps_all),
            weights: weights(table).map(short),
        }
    }

    /// With a limit on the seconds spent on each child.
    #[must_use]
    pub fn within(self, child_seconds: Option<f64>) -> Self {
        Self { child_seconds, ..self }
    }

    /// A short name for the table's content: names, kinds, values and weights.
    pub fn fingerprint(table: &Table) -> String {
        let mut hasher = blake3::Hasher::new();
        for (variable, v) in table.variables().iter().zip(0..) {
            hasher.update(&json(variable));
            hasher.update(values(table.column(v)).as_bytes());
        }
        if let Some(weights) = weights(table) {
            hasher.update(weights.as_bytes());
        }
        short(hasher.finalize())
    }

    /// How the files of its records start.
    fn head(&self) -> Vec<u8> {
        [MAGIC.as_slice(), &blake3::hash(&json(self)).as_bytes()[..16]].concat()
    }

    /// What differs, in words; `self` is the one on disk.
    fn difference(&self, wanted: &Self) -> Option<String> {
        if self.arbornet != wanted.arbornet {
            return Some(format!("it was made by version {}, and this is version {}", self.arbornet, wanted.arbornet));
        }
        if self.score != wanted.score {
            return Some(format!("its score is {}, not {}", self.score, wanted.score));
        }
        if self.max_parents != wanted.max_parents {
            return Some(format!("its max_parents is {}, not {}", self.max_parents, wanted.max_parents));
        }
        let names = |m: &Self| m.columns.iter().map(|c| format!("'{}'", c.name)).collect::<Vec<_>>().join(", ");
        if !self.columns.iter().map(|c| &c.name).eq(wanted.columns.iter().map(|c| &c.name)) {
            return Some(format!("its columns are {}, not {}", names(self), names(wanted)));
        }
        let pairs = || self.columns.iter().zip(&wanted.columns);
        if let Some((column, _)) = pairs().find(|(a, b)| a.kind != b.kind) {
            return Some(format!("its column '{}' has another type or other levels", column.name));
        }
        if self.n_rows != wanted.n_rows {
            return Some(format!("its table has {} rows, not {}", self.n_rows, wanted.n_rows));
        }
        if let Some((column, _)) = pairs().find(|(a, b)| a.values != b.values) {
            return Some(format!("its column '{}' has other values", column.name));
        }
        if self.weights != wanted.weights {
            return Some("its rows have other weights".to_owned());
        }
        if self.constraints != wanted.constraints {
            return Some("its constraints are different".to_owned());
        }
        if self.child_seconds != wanted.child_seconds {
            let told =
                |limit: Option<f64>| limit.map_or_else(|| "no limit".to_owned(), |seconds| format!("{seconds} s"));
            let (own, other) = (told(self.child_seconds), told(wanted.child_seconds));
            return Some(format!("its time per child is {own}, not {other}"));
        }
        if self.keeps_all != wanted.keeps_all {
            let told = |all: bool| if all { "it kept all sets (prune=False)" } else { "it kept what no subset beats" };
            return Some(format!("{}, and this run does not", told(self.keeps_all)));
        }
        (self != wanted).then(|| "its blocks have another size".to_owned())
    }
}

fn json(plain: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(plain).expect("plain data has a JSON form")
}

fn short(hash: blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

fn values(column: &Column) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let mut feed = |bytes: &[u8]| {
        hasher.update(bytes);
    };
    match column {
        Column::Reals(x) => x.iter().for_each(|x| feed(&x.to_le_bytes())),
        Column::Codes(Codes::U8(c)) => feed(c),
        Column::Codes(Codes::U16(c)) => c.iter().for_each(|c| feed(&c.to_le_bytes())),
        Column::Codes(Codes::U32(c)) => c.iter().for_each(|c| feed(&c.to_le_bytes())),
    }
    hasher.finalize()
}

fn weights(table: &Table) -> Option<blake3::Hash> {
    let weights = table.weights()?;
    let mut hasher = blake3::Hasher::new();
    let own = (0..table.n_vars()).filter_map(|v| Some((v, weights.own_of(v)?)));
    for (place, of) in std::iter::once((usize::MAX, weights.of_rows())).chain(own) {
        hasher.update(&(place as u64).to_le_bytes());
        for w in of {
            hasher.update(&w.to_le_bytes());
        }
    }
    Some(hasher.finalize())
}

/// The records of a run on disk.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    found: Vec<Record>,
    synced: Instant,
}

impl Journal {
    /// Opens or makes a checkpoint, and reads the records it has.
    ///
    /// # Errors
    /// If it is of another table, schema, score or constraints, with the reason; or it cannot be read or written.
    pub fn open(folder: &Path, manifest: &Manifest) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|e| unusable(folder, &e))?;
        let described = folder.join("manifest.json");
        match fs::read_to_string(&described) {
            Ok(text) => agree(folder, &text, manifest)?,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                replace(&described, &json(manifest)).map_err(|e| unusable(&described, &e))?;
            }
            Err(e) => return Err(unusable(&described, &e)),
        }
        let mut files: Vec<PathBuf> = fs::read_dir(folder)
            .and_then(|entries| entries.map(|e| e.map(|e| e.path())).collect())
            .map_err(|e| unusable(folder, &e))?;
        files.retain(|path| number(path).is_some());
        files.sort();
        let head = manifest.head();
        let mut found = vec![];
        for path in &files {
            let bytes = fs::read(path).map_err(|e| unusable(path, &e))?;
            read_records(&bytes, &head, &mut found);
        }
        let mut next = files.iter().filter_map(|path| number(path)).max().map_or(1, |last| last + 1);
        loop {
            let path = folder.join(format!("blocks-{next:06}.bin"));
            match OpenOptions::new().append(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(&head).map_err(|e| unusable(&path, &e))?;
                    return Ok(Self { path, file, found, synced: Instant::now() });
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => next += 1,
                Err(e) => return Err(unusable(&path, &e)),
            }
        }
    }

    /// How many blocks earlier runs have scored.
    pub fn n_found(&self) -> usize {
        self.found.len()
    }

    /// The records of earlier runs, once.
    pub fn take_found(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.found)
    }

    /// Appends a record.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, record: &Record) -> Result<()> {
        let bytes = record.to_bytes();
        let mut frame = Vec::with_capacity(8 + bytes.len());
        frame.extend((bytes.len() as u32).to_le_bytes());
        frame.extend(crc32fast::hash(&bytes).to_le_bytes());
        frame.extend(bytes);
        let mut written = self.file.write_all(&frame);
        if self.synced.elapsed() > SYNC {
            written = written.and_then(|()| self.file.sync_data());
            self.synced = Instant::now();
        }
        written.map_err(|e| unusable(&self.path, &e))
    }
}

fn agree(folder: &Path, text: &str, wanted: &Manifest) -> Result<()> {
    let other = match serde_json::from_str::<Manifest>(text) {
        Ok(found) => found.difference(wanted),
        Err(e) => Some(format!("its manifest.json cannot be read: {e}")),
    };
    other.map_or(Ok(()), |reason| {
        let problem = format!("this checkpoint is of another run: {reason}; give another folder, or delete this one");
        Err(Error::parameter("checkpoint", &folder.display(), problem))
    })
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::File { path: path.display().to_string(), problem: error.to_string() }
}

/// Writes a file so that it is there whole or not at all.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    let mut file = File::create(&partial)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&partial, path)
}

fn number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("blocks-")?.strip_suffix(".bin")?.parse().ok()
}

/// Reads whole records up to the end, or to the first that is torn; none if the file does not start with `head`.
fn read_records(bytes: &[u8], head: &[u8], found: &mut Vec<Record>) {
    let Some(mut rest) = bytes.strip_prefix(head) else { return };
    while let Some((head, body)) = rest.split_at_checked(8) {
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
        let Some((record, after)) = body.split_at_checked(word(0) as usize) else { return };
        let whole = crc32fast::hash(record) == word(4);
        let Some(record) = whole.then(|| Record::from_bytes(record).ok()).flatten() else { return };
        found.push(record);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Block;

    fn record(start: u64) -> Record {
        let block = Block { child: 1, size: 2, start, len: 4 };
        Record { kept: vec![(1, -2.5)], evaluated: 4, ..Record::of(block) }
    }

    #[test]
    fn a_torn_tail_or_a_flipped_bit_ends_the_reading_and_nothing_else() {
        let mut bytes = MAGIC.to_vec();
        let mut ends = vec![];
        for start in 0..3 {
            let body = record(start).to_bytes();
            bytes.extend((body.len() as u32).to_le_bytes());
            bytes.extend(crc32fast::hash(&body).to_le_bytes());
            bytes.extend(body);
            ends.push(bytes.len());
        }
        for cut in 0..=bytes.len() {
            let mut found = vec![];
            read_records(&bytes[..cut], MAGIC, &mut found);
            assert_eq!(found.len(), ends.iter().filter(|&&end| end <= cut).count());
        }
        for at in MAGIC.len()..bytes.len() {
            let mut spoiled = bytes.clone();
            spoiled[at] ^= 1;
            let mut found = vec![];
            read_records(&spoiled, MAGIC, &mut found);
            let whole: Vec<_> = (0..ends.iter().filter(|&&end| end <= at).count()).map(|i| record(i as u64)).collect();
            assert_eq!(found, whole);
        }
    }
}
