//! Reading BIF.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::model::LocalModel;
use crate::model::cells::{Cell, Cells};
use crate::network::Network;
use crate::predictive::Predictive;
use crate::table::{Kind, Level, Var, Variable};

#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Word(Cow<'a, str>),
    Mark(u8),
    End,
}

const MARKS: &[u8] = b"{}[]();,|";

struct Tokens<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    origin: &'a str,
}

impl<'a> Tokens<'a> {
    fn wrong<T>(&self, problem: impl Into<String>) -> Result<T> {
        Err(Error::Format { origin: self.origin.to_owned(), line: self.line, problem: problem.into() })
    }

    fn skip_blank(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if byte == b'\n' {
                self.line += 1;
                self.at += 1;
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else if bytes[self.at..].starts_with(b"//") {
                self.at = memory_end(bytes, self.at, b"\n").unwrap_or(bytes.len());
            } else if bytes[self.at..].starts_with(b"/*") {
                let Some(end) = memory_end(bytes, self.at + 2, b"*/") else {
                    return self.wrong("a comment does not end");
                };
                self.line += self.text[self.at..end].matches('\n').count();
                self.at = end + 2;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Token<'a>> {
        self.skip_blank()?;
        let bytes = self.text.as_bytes();
        let Some(&byte) = bytes.get(self.at) else { return Ok(Token::End) };
        if MARKS.contains(&byte) {
            self.at += 1;
            return Ok(Token::Mark(byte));
        }
        if byte == b'"' {
            return self.quoted();
        }
        let start = self.at;
        while bytes.get(self.at).is_some_and(|b| !b.is_ascii_whitespace() && !MARKS.contains(b) && *b != b'"') {
            self.at += 1;
        }
        Ok(Token::Word(Cow::Borrowed(&self.text[start..self.at])))
    }

    fn quoted(&mut self) -> Result<Token<'a>> {
        let (bytes, start) = (self.text.as_bytes(), self.at + 1);
        let mut end = start;
        let mut escapes = false;
        loop {
            match bytes.get(end) {
                None => return self.wrong("a quotation mark is not closed"),
                Some(b'"') => break,
                Some(b'\\') => {
                    escapes = true;
                    // What is escaped may be longer than a byte; its further bytes are none of those looked for.
                    end += 2;
                }
                Some(_) => end += 1,
            }
        }
        self.line += self.text.get(start..end).map_or(0, |inside| inside.matches('\n').count());
        self.at = end + 1;
        let inside = &self.text[start..end];
        if !escapes {
            return Ok(Token::Word(Cow::Borrowed(inside)));
        }
        let mut plain = String::with_capacity(inside.len());
        let mut chars = inside.chars();
        while let Some(c) = chars.next() {
            plain.push(if c == '\\' { chars.next().unwrap_or('\\') } else { c });
        }
        Ok(Token::Word(Cow::Owned(plain)))
    }

    fn expect(&mut self, mark: u8) -> Result<()> {
        let found = self.next()?;
        if found == Token::Mark(mark) {
            return Ok(());
        }
        self.wrong(format!("expected '{}', found {}", char::from(mark), shown(&found)))
    }

    fn word(&mut self, what: &str) -> Result<Cow<'a, str>> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            other => self.wrong(format!("expected {what}, found {}", shown(&other))),
        }
    }

    /// Words up to a closing mark, commas between them optional.
    fn words(&mut self, close: u8) -> Result<Vec<Cow<'a, str>>> {
        let mut words = Vec::new();
        loop {
            match self.next()? {
                Token::Word(word) => words.push(word),
                Token::Mark(b',') => {}
                Token::Mark(mark) if mark == close => return Ok(words),
                other => return self.wrong(format!("expected '{}', found {}", char::from(close), shown(&other))),
            }
        }
    }

    /// Numbers up to a semicolon.
    fn numbers(&mut self) -> Result<Vec<f64>> {
        let mut numbers = Vec::new();
        loop {
            match self.next()? {
                Token::Word(word) => match word.parse::<f64>() {
                    Ok(p) if (0.0..=1.02).contains(&p) => numbers.push(p),
                    _ => return self.wrong(format!("'{word}' is no probability")),
                },
                Token::Mark(b',') => {}
                Token::Mark(b';') => return Ok(numbers),
                other => return self.wrong(format!("expected ';', found {}", shown(&other))),
            }
        }
    }

    /// Skips a property up to its semicolon; it may hold anything else.
    fn skip_property(&mut self) -> Result<()> {
        loop {
            match self.next()? {
                Token::Mark(b';') => return Ok(()),
                Token::End => return self.wrong("a property does not end with ';'"),
                _ => {}
            }
        }
    }
}

fn memory_end(bytes: &[u8], from: usize, end: &[u8]) -> Option<usize> {
    bytes[from..].windows(end.len()).position(|w| w == end).map(|i| from + i)
}

fn shown(token: &Token<'_>) -> String {
    match token {
        Token::Word(word) => format!("'{word}'"),
        Token::Mark(mark) => format!("'{}'", char::from(*mark)),
        Token::End => "the end of the file".to_owned(),
    }
}

/// Reads the text of a BIF file; `origin` names it in errors.
///
/// # Errors
/// If it is not of the format, or not a network, with the line.
pub fn read(text: &str, origin: &str) -> Result<Network> {
    let mut tokens = Tokens { text, at: 0, line: 1, origin };
    let mut file = File::default();
    loop {
        match tokens.next()? {
            Token::End => break,
            Token::Word(word) if word == "network" => skip_network(&mut tokens)?,
            Token::Word(word) if word == "variable" => file.variable(&mut tokens)?,
            Token::Word(word) if word == "probability" => file.probability(&mut tokens)?,
            other => return tokens.wrong(format!("expected 'variable' or 'probability', found {}", shown(&other))),
        }
    }
    let models = file.models.into_iter().zip(&file.variables);
    let models = models
        .map(|(model, v)| model.map_or_else(|| tokens.wrong(format!("'{}' has no probabilities", v.name)), Ok))
        .collect::<Result<Vec<_>>>()?;
    Network::new(file.variables, models).or_else(|error| tokens.wrong(error.to_string()))
}

fn skip_network(tokens: &mut Tokens<'_>) -> Result<()> {
    loop {
        match tokens.next()? {
            Token::Mark(b'{') => break,
            Token::Word(_) => {}
            other => return tokens.wrong(format!("expected '{{', found {}", shown(&other))),
        }
    }
    loop {
        match tokens.next()? {
            Token::Mark(b'}') => return Ok(()),
            Token::Word(word) if word == "property" => tokens.skip_property()?,
            other => return tokens.wrong(format!("expected '}}', found {}", shown(&other))),
        }
    }
}

#[derive(Default)]
struct File {
    variables: Vec<Variable>,
    positions: FxHashMap<String, Var>,
    /// Per variable the codes of its levels.
    codes: Vec<FxHashMap<String, u32>>,
    models: Vec<Option<LocalModel>>,
}

impl File {
    fn variable(&mut self, tokens: &mut Tokens<'_>) -> Result<()> {
        let name = tokens.word("a variable's name")?;
        tokens.expect(b'{')?;
        let mut levels: Option<Vec<Cow<'_, str>>> = None;
        loop {
            match tokens.next()? {
                Token::Mark(b'}') => break,
                Token::Word(word) if word == "property" => tokens.skip_property()?,
                Token::Word(word) if word == "type" => {
                    let kind = tokens.word("a type")?;
                    if kind != "discrete" {
                        return tokens.wrong(format!("'{name}' is of type '{kind}'; only discrete ones can be read"));
                    }
                    tokens.expect(b'[')?;
                    let count = tokens.word("the number of levels")?;
                    tokens.expect(b']')?;
                    tokens.expect(b'{')?;
                    let listed = tokens.words(b'}')?;
                    tokens.expect(b';')?;
                    if count.parse() != Ok(listed.len()) || listed.is_empty() {
                        return tokens.wrong(format!("'{name}' has {count} levels but lists {}", listed.len()));
                    }
                    levels = Some(listed);
                }
                other => return tokens.wrong(format!("expected '}}', found {}", shown(&other))),
            }
        }
        let Some(levels) = levels else { return tokens.wrong(format!("'{name}' has no type")) };
        if self.positions.insert(name.to_string(), self.variables.len()).is_some() {
            return tokens.wrong(format!("the variable '{name}' is declared twice"));
        }
        let mut codes = FxHashMap::default();
        for (code, level) in levels.iter().enumerate() {
            if codes.insert(level.to_string(), code as u32).is_some() {
                return tokens.wrong(format!("'{name}' has the level '{level}' twice"));
            }
        }
        let kind =
            Kind::Categorical { levels: levels.iter().map(|level| Level::Text(level.as_ref().into())).collect() };
        self.variables.push(Variable { name: name.as_ref().into(), kind });
        self.codes.push(codes);
        self.models.push(None);
        Ok(())
    }

    fn position(&self, tokens: &Tokens<'_>, name: &str) -> Result<Var> {
        let known = self.positions.get(name).copied();
        known.map_or_else(|| tokens.wrong(format!("the variable '{name}' is not declared above")), Ok)
    }

    fn probability(&mut self, tokens: &mut Tokens<'_>) -> Result<()> {
        tokens.expect(b'(')?;
        let name = tokens.word("a variable's name")?;
        let child = self.position(tokens, &name)?;
        let given = match tokens.next()? {
            Token::Mark(b')') => Vec::new(),
            Token::Mark(b'|') => tokens.words(b')')?,
            other => return tokens.wrong(format!("expected ')', found {}", shown(&other))),
        };
        let parents = given.iter().map(|p| self.position(tokens, p)).collect::<Result<Vec<Var>>>()?;
        // The model lists its parents in ascending order; `places[i]` is where the file's i-th parent goes.
        let mut sorted = parents.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|w| w[0] == w[1]) || sorted.contains(&child) {
            return tokens.wrong(format!("'{name}' has a parent twice, or is its own parent"));
        }
        if self.models[child].is_some() {
            return tokens.wrong(format!("the probabilities of '{name}' are given twice"));
        }
        let places: Vec<usize> = parents.iter().map(|p| sorted.partition_point(|q| q < p)).collect();
        let dims: Vec<usize> = parents.iter().map(|&p| self.codes[p].len()).collect();
        let k = self.codes[child].len();
        let n_configurations = dims.iter().try_fold(1_usize, |n, &d| n.checked_mul(d)).unwrap_or(usize::MAX);
        let mut cells: Vec<Cell> = Vec::new();
        let cell = |codes, distribution| Cell { codes, n_rows: 0, distribution };
        let mut default = None;
        tokens.expect(b'{')?;
        loop {
            match tokens.next()? {
                Token::Mark(b'}') => break,
                Token::Word(word) if word == "property" => tokens.skip_property()?,
                Token::Word(word) if word == "default" => default = Some(distribution(tokens, &name, k)?),
                Token::Word(word) if word == "table" => {
                    let numbers = tokens.numbers()?;
                    if n_configurations.checked_mul(k) != Some(numbers.len()) {
                        let problem = format!(
                            "'{name}' has {k} levels and {n_configurations} configurations of parents, but {} numbers",
                            numbers.len()
                        );
                        return tokens.wrong(problem);
                    }
                    for at in 0..n_configurations {
                        let row = (0..k).map(|level| numbers[level * n_configurations + at]).collect();
                        cells.push(cell(configuration(at, &dims, &places), normalised(tokens, &name, row)?));
                    }
                }
                Token::Mark(b'(') => {
                    let levels = tokens.words(b')')?;
                    if levels.len() != parents.len() {
                        return tokens.wrong(format!("{} levels for {} parents", levels.len(), parents.len()));
                    }
                    let mut codes = vec![0; parents.len()];
                    for ((level, &parent), &place) in levels.iter().zip(&parents).zip(&places) {
                        let Some(&code) = self.codes[parent].get(level.as_ref()) else {
                            let name = &self.variables[parent].name;
                            return tokens.wrong(format!("'{level}' is not a level of '{name}'"));
                        };
                        codes[place] = code;
                    }
                    cells.push(cell(codes, distribution(tokens, &name, k)?));
                }
                other => return tokens.wrong(format!("expected '}}', found {}", shown(&other))),
            }
        }
        cells.sort_by(|a, b| a.codes.cmp(&b.codes));
        if cells.windows(2).any(|w| w[0].codes == w[1].codes) {
            return tokens.wrong(format!("'{name}' has one configuration of its parents twice"));
        }
        if cells.len() < n_configurations && default.is_none() {
            let known = |codes: &Vec<u32>| cells.binary_search_by(|cell| cell.codes.cmp(codes)).is_ok();
            let mut absent = (0..=cells.len()).map(|at| configuration(at, &dims, &places));
            let absent = absent.find(|codes| !known(codes)).unwrap_or_default();
            let shown: Vec<String> = parents
                .iter()
                .zip(&places)
                .map(|(&p, &place)| match &self.variables[p].kind {
                    Kind::Categorical { levels } => levels[absent[place] as usize].to_string(),
                    _ => String::new(),
                })
                .collect();
            return tokens.wrong(format!("'{name}' has no probabilities for ({})", shown.join(", ")));
        }
        let unseen = default.unwrap_or_else(|| Predictive::Levels { probabilities: vec![1.0 / k as f64; k] });
        self.models[child] = Some(LocalModel::Cells(Cells::new(child, sorted, cells, unseen)));
        Ok(())
    }
}

/// The codes of a configuration by its rank in the file's order of parents, in the model's order.
fn configuration(mut rank: usize, dims: &[usize], places: &[usize]) -> Vec<u32> {
    let mut codes = vec![0; dims.len()];
    for (&dim, &place) in dims.iter().zip(places).rev() {
        codes[place] = (rank % dim) as u32;
        rank /= dim;
    }
    codes
}

fn distribution(tokens: &mut Tokens<'_>, name: &str, k: usize) -> Result<Predictive> {
    let numbers = tokens.numbers()?;
    if numbers.len() != k {
        return tokens.wrong(format!("'{name}' has {k} levels but {} probabilities", numbers.len()));
    }
    normalised(tokens, name, numbers)
}

fn normalised(tokens: &Tokens<'_>, name: &str, mut probabilities: Vec<f64>) -> Result<Predictive> {
    let sum: f64 = probabilities.iter().sum();
    if (sum - 1.0).abs() > 0.02 {
        return tokens.wrong(format!("probabilities of '{name}' sum to {sum}"));
    }
    if (sum - 1.0).abs() > 1e-12 {
        for p in &mut probabilities {
            *p /= sum;
        }
    }
    Ok(Predictive::Levels { probabilities })
}
