//! The text format in which the tools of the field exchange candidate parent sets.
//!
//! Line 1 is the number of variables; then, per variable, a line `name k` and `k` lines `score m p1 ... pm`. Parents
//! are names; or positions, where no variable is named by a number. Lines that start with `#` and empty lines are skipped.
//! Names that a blank would cut in two are written as positions, with the names kept in a `# names: [...]` line that
//! the reader honours. Scores are written with as many digits as it takes to read the same number back.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::candidates::{Candidates, ChildCandidates, LARGEST};
use crate::error::{Error, Result};

/// Opens the comment that carries names which do not fit the format.
const NAMES: &str = "# names: ";

/// Room made for lists whose length a file announces; what a file really holds may be more.
const TRUSTED: usize = 1 << 10;

/// Reads candidates from text; `origin` names it in errors.
///
/// # Errors
/// `Error::Format` with the line at fault.
pub fn read(text: &str, origin: &str) -> Result<Candidates> {
    let mut reader = Reader { lines: text.lines().enumerate(), origin, line: 0, names: None };
    let first = reader.next("the number of variables")?;
    let n: usize = reader.number(first.trim(), "the number of variables")?;
    // Bodies are kept as text until every name is known: a parent may be named before its own block comes.
    let mut names: Vec<String> = Vec::new();
    let mut known: FxHashSet<&str> = FxHashSet::default();
    let mut bodies: Vec<Vec<(usize, &str)>> = Vec::new();
    for v in 0..n {
        let header = reader.next(&format!("'name number-of-sets' of variable {} of {n}", v + 1))?;
        let mut words = header.split_whitespace();
        let (Some(name), Some(k), None) = (words.next(), words.next(), words.next()) else {
            return Err(reader.error(format!(
                "expected 'name number-of-sets' of variable {} of {n}, found '{}' (is the count of the sets before it right?)",
                v + 1,
                quoted(header)
            )));
        };
        if !known.insert(name) {
            return Err(reader.error(format!("variable '{}' comes twice", quoted(name))));
        }
        let k: usize = reader.number(k, "the number of sets")?;
        names.push(name.to_owned());
        let mut body = Vec::with_capacity(k.min(TRUSTED));
        for i in 0..k {
            let line = reader.next(&format!("set {} of the {k} of variable '{}'", i + 1, quoted(name)))?;
            body.push((reader.line, line));
        }
        bodies.push(body);
    }
    if let Ok(line) = reader.next("") {
        return Err(reader.error(format!("'{}' follows after the last of {n} variables", quoted(line))));
    }
    names = positions_first(names, &mut bodies);
    let lines = Lines::new(&names, origin);
    let children = bodies
        .iter()
        .enumerate()
        .map(|(v, body)| {
            let sets = body.iter().map(|&(line, text)| lines.set(text, v, line));
            Ok(ChildCandidates::from_sets(sets.collect::<Result<Vec<_>>>()?))
        })
        .collect::<Result<Vec<_>>>()?;
    let names = reader.full_names(n)?.unwrap_or(names);
    Candidates::new(names, children)
}

/// A piece of a file as an error shows it: not longer than a line, and without what would move the cursor.
fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    let text = text.trim();
    let more = if text.chars().nth(MOST).is_some() { "..." } else { "" };
    text.chars().take(MOST).flat_map(char::escape_debug).chain(more.chars()).collect()
}

/// Variables named by their positions are put in that order, whatever the order of the file.
fn positions_first(names: Vec<String>, bodies: &mut Vec<Vec<(usize, &str)>>) -> Vec<String> {
    let at: Option<Vec<usize>> = names.iter().map(|n| n.parse().ok().filter(|&i| i < names.len())).collect();
    let Some(at) = at else { return names };
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&i| at[i]);
    if order.iter().enumerate().any(|(i, &o)| at[o] != i) {
        return names;
    }
    *bodies = order.iter().map(|&i| std::mem::take(&mut bodies[i])).collect();
    order.into_iter().map(|i| names[i].clone()).collect()
}

struct Reader<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    origin: &'a str,
    line: usize,
    /// From the comment that carries them, with its line.
    names: Option<(usize, Vec<String>)>,
}

impl<'a> Reader<'a> {
    /// The next line that says something.
    fn next(&mut self, expected: &str) -> Result<&'a str> {
        for (i, line) in self.lines.by_ref() {
            self.line = i + 1;
            let text = line.trim_start();
            if let Some(names) = text.strip_prefix(NAMES) {
                self.names = serde_json::from_str(names).ok().map(|names| (self.line, names));
            } else if !text.is_empty() && !text.starts_with('#') {
                return Ok(line);
            }
        }
        self.line += 1;
        Err(self.error(format!("the file ends where {expected} is expected")))
    }

    fn error(&self, problem: String) -> Error {
        Error::Format { origin: self.origin.to_owned(), line: self.line, problem }
    }

    fn number(&self, word: &str, what: &str) -> Result<usize> {
        word.parse().map_err(|_| self.error(format!("{what} should be a whole number, found '{}'", quoted(word))))
    }

    /// The names that a comment carries, if one does.
    fn full_names(&self, n: usize) -> Result<Option<Vec<String>>> {
        let Some((line, names)) = &self.names else { return Ok(None) };
        let distinct: FxHashSet<&String> = names.iter().collect();
        if names.len() != n || distinct.len() != n {
            let problem = format!("{} different names are given for {n} variables", distinct.len());
            return Err(Error::Format { origin: self.origin.to_owned(), line: *line, problem });
        }
        Ok(Some(names.clone()))
    }
}

/// Reads lines `score m p1 ... pm`.
struct Lines<'a> {
    names: &'a [String],
    index: FxHashMap<&'a str, u32>,
    /// Whether a parent may be told by its position: no name could be mistaken for one.
    positions: bool,
    origin: &'a str,
}

impl<'a> Lines<'a> {
    fn new(names: &'a [String], origin: &'a str) -> Self {
        let index = names.iter().enumerate().map(|(i, n)| (n.as_str(), i as u32)).collect();
        let positions = names.iter().all(|name| name.parse::<u64>().is_err());
        Self { names, index, positions, origin }
    }

    fn parent(&self, word: &str) -> Option<u32> {
        let position = || word.parse().ok().filter(|&p| self.positions && (p as usize) < self.names.len());
        self.index.get(word).copied().or_else(position)
    }

    fn set(&self, text: &str, child: usize, line: usize) -> Result<(f64, Vec<u32>)> {
        let error = |problem| Error::Format { origin: self.origin.to_owned(), line, problem };
        let mut words = text.split_whitespace();
        let word = words.next().expect("empty lines are skipped");
        let number = |what: &str| error(format!("{what}, found '{}'", quoted(word)));
        let score: f64 = word.parse().map_err(|_| number("the score should be a number"))?;
        if score.is_nan() || score == f64::INFINITY {
            return Err(number("the score should be a finite number"));
        }
        if score.is_finite() && score.abs() > LARGEST {
            return Err(number(&format!("the score should lie within {LARGEST:e} of zero")));
        }
        let word = words.next().ok_or_else(|| error("the number of parents is missing".to_owned()))?;
        let whole = |_| error(format!("the number of parents should be a whole number, found '{}'", quoted(word)));
        let size: usize = word.parse().map_err(whole)?;
        let mut parents = Vec::with_capacity(size.min(self.names.len()).min(TRUSTED));
        for word in words {
            let parent = self.parent(word).ok_or_else(|| error(format!("there is no variable '{}'", quoted(word))))?;
            if parent as usize == child {
                return Err(error(format!("'{}' is among its own parents", quoted(word))));
            }
            parents.push(parent);
        }
        if parents.len() != size {
            return Err(error(format!("{size} parents are announced, {} follow", parents.len())));
        }
        parents.sort_unstable();
        if let Some(pair) = parents.windows(2).find(|w| w[0] == w[1]) {
            return Err(error(format!("parent '{}' comes twice", quoted(&self.names[pair[0] as usize]))));
        }
        Ok((score, parents))
    }
}

/// Writes candidates as text.
pub fn write(candidates: &Candidates) -> String {
    let mut out = String::new();
    let written = write_to(&mut out, candidates);
    debug_assert!(written.is_ok(), "a string takes whatever is written to it");
    out
}

fn write_to(out: &mut String, candidates: &Candidates) -> std::fmt::Result {
    let names = candidates.names();
    let fits = |(i, name): (usize, &String)| {
        let one_word = !name.is_empty() && !name.starts_with('#') && !name.contains(char::is_whitespace);
        one_word && name.parse::<usize>().map_or(true, |position| position == i)
    };
    let by_name = names.iter().enumerate().all(fits);
    if !by_name {
        writeln!(out, "{NAMES}{}", serde_json::json!(names))?;
    }
    writeln!(out, "{}", names.len())?;
    let word = |v: usize| if by_name { names[v].clone() } else { v.to_string() };
    for v in 0..names.len() {
        let child = candidates.child(v);
        writeln!(out, "{} {}", word(v), child.len())?;
        for (parents, score) in child.iter() {
            write!(out, "{score} {}", parents.len())?;
            for &p in parents {
                write!(out, " {}", word(p as usize))?;
            }
            out.push('\n');
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> String {
        read(text, "x.jkl").expect_err("malformed").to_string()
    }

    #[test]
    fn numbers_names_comments_and_forward_references_are_read_alike() {
        let numbers = read("2\n0 2\n-1.5 1 1\n-2 0\n1 1\n-3 0\n", "a").expect("well formed");
        let names =
            read("# made by hand\n2\n\nrain 2\n-2 0\n-1.5 1 wet\nwet 1\n  # twice\n-3 0\n", "b").expect("well formed");
        assert_eq!(numbers.names(), ["0", "1"]);
        assert_eq!(names.names(), ["rain", "wet"]);
        for v in 0..2 {
            assert_eq!(numbers.child(v), names.child(v));
        }
        assert_eq!(numbers.child(0).parents(0), [1]);
    }

    #[test]
    fn numbered_variables_may_come_in_any_order() {
        let there = read("2\n1 1\n-3 0\n0 2\n-1.5 1 1\n-2 0\n", "a").expect("well formed");
        assert_eq!(there, read("2\n0 2\n-1.5 1 1\n-2 0\n1 1\n-3 0\n", "a").expect("well formed"));
    }

    #[test]
    fn what_is_written_reads_back_bit_for_bit() {
        for names in [["a", "b", "c"], ["M. Work", "p-50", "#"], ["2", "0", "1"], ["0", "1", "2"]] {
            let names = names.map(str::to_owned).to_vec();
            let sets = |c: [(f64, Vec<u32>); 2]| ChildCandidates::from_sets(c);
            let children = vec![
                sets([(-0.1 - 0.2, vec![1, 2]), (-1e300, vec![])]),
                sets([(5.0, vec![0]), (f64::MIN_POSITIVE, vec![])]),
                ChildCandidates::from_sets([]),
            ];
            let there = Candidates::new(names, children).expect("well formed");
            assert_eq!(read(&write(&there), "again").expect("own output"), there);
        }
    }

    #[test]
    fn malformed_files_are_named_by_line_and_reason() {
        let table = [
            ("", "line 1: the file ends where the number of variables"),
            ("two", "line 1: the number of variables should be a whole number, found 'two'"),
            ("1\n0 2\n-1 0\n", "line 4: the file ends where set 2 of the 2 of variable '0'"),
            ("2\n0 1\n-1 0\n-2 1 1\n1 1\n-1 0", "line 4: expected 'name number-of-sets'"),
            ("2\na 1\n-1 0\na 1\n-1 0", "line 4: variable 'a' comes twice"),
            ("2\na 1\n-1 1 c\nb 1\n-1 0", "line 3: there is no variable 'c'"),
            ("2\na 1\n-1 1 a\nb 1\n-1 0", "line 3: 'a' is among its own parents"),
            ("2\na 1\n-1 2 b\nb 1\n-1 0", "line 3: 2 parents are announced, 1 follow"),
            ("2\na 1\n-1 2 b b\nb 1\n-1 0", "line 3: parent 'b' comes twice"),
            ("1\na 1\nnan 0", "line 3: the score should be a finite number, found 'nan'"),
            ("1\na 1\nx 0", "line 3: the score should be a number, found 'x'"),
            ("1\na 1\n-2e300 0", "line 3: the score should lie within 1e300 of zero, found '-2e300'"),
            ("1\na 1\n-1", "line 3: the number of parents is missing"),
            ("1\na 1\n-1 0\nb 1", "line 4: 'b 1' follows after the last of 1 variables"),
            ("1000000000\na 1\n-1 0", "line 4: the file ends where 'name number-of-sets' of variable 2 of 1000000000"),
            ("1\na 18446744073709551615\n-1 0", "line 4: the file ends where set 2 of the 18446744073709551615"),
            ("2\na 1\n-1 1000000000 b\nb 1\n-1 0", "line 3: 1000000000 parents are announced, 1 follow"),
            ("2\n1 1\n-1 1 0\n2 1\n-1 0", "line 3: there is no variable '0'"),
            ("# names: [\"a\",\"a\"]\n2\n0 1\n-1 0\n1 1\n-1 0", "line 1: 1 different names are given for 2"),
            ("# names: [\"a\"]\n2\n0 1\n-1 0\n1 1\n-1 0", "line 1: 1 different names are given for 2"),
            ("2\r0 1\r-1 0", "line 1: the number of variables should be a whole number, found '2\\r0 1\\r-1 0'"),
        ];
        for (text, expected) in table {
            let message = error_of(text);
            assert!(message.contains(expected), "{text:?}: {message}");
            assert!(message.starts_with("x.jkl, line "), "{message}");
        }
    }

    #[test]
    fn what_does_not_fit_is_quoted_in_short() {
        for text in ["9".repeat(1 << 20), format!("1\na 1\n{} 0", "x".repeat(1 << 20))] {
            let message = error_of(&text);
            assert!(message.len() < 200 && message.ends_with("...'"), "{message}");
        }
    }
}
