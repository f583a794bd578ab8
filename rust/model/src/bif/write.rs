//! Writing BIF.

use std::fmt::Write as _;

use crate::error::{Error, Result};
use crate::network::Network;
use crate::predictive::{Predictive, Value};
use crate::table::{Kind, Variable};

/// Rows of probabilities one variable may have: more is no file that anybody reads.
const MOST_ROWS: f64 = 1e7;

/// The text of a BIF file.
///
/// # Errors
/// If a variable is continuous, or has too many configurations of parents.
pub fn write(network: &Network) -> Result<String> {
    let mut text = String::from("network unknown {\n}\n");
    let variables = network.variables();
    for variable in variables {
        let listed = levels(variable)?;
        let (name, list) = (quoted(&variable.name), listed.join(", "));
        let _ = writeln!(text, "variable {name} {{\n  type discrete [ {} ] {{ {list} }};\n}}", listed.len());
    }
    for (v, variable) in variables.iter().enumerate() {
        let parents = network.parents(v);
        let rows: f64 = parents.iter().map(|&p| variables[p].n_levels().unwrap_or(1) as f64).product();
        if rows > MOST_ROWS {
            return Err(Error::Memory {
                what: format!("the table of '{}'", variable.name),
                needed_mb: (rows * variable.n_levels().unwrap_or(1) as f64 * 8.0 / 1e6) as u64,
                limit_mb: (MOST_ROWS * 8.0 / 1e6) as u64,
                advice: "save the network as JSON, which keeps its models".to_owned(),
            });
        }
        let names: Vec<String> = parents.iter().map(|&p| quoted(&variables[p].name)).collect();
        let given = if names.is_empty() { String::new() } else { format!(" | {}", names.join(", ")) };
        let _ = writeln!(text, "probability ( {}{given} ) {{", quoted(&variable.name));
        let parent_levels = parents.iter().map(|&p| levels(&variables[p])).collect::<Result<Vec<_>>>()?;
        let mut at = vec![0; parents.len()];
        loop {
            let values: Vec<Value> = at.iter().map(|&code| Value::Code(code as u32)).collect();
            if parents.is_empty() {
                text.push_str("  table ");
            } else {
                let shown: Vec<&str> = at.iter().zip(&parent_levels).map(|(&code, of)| &*of[code]).collect();
                let _ = write!(text, "  ({}) ", shown.join(", "));
            }
            if let Predictive::Levels { probabilities } = &*network.model(v).predictive(&values) {
                for (i, p) in probabilities.iter().enumerate() {
                    let _ = write!(text, "{}{p:?}", if i == 0 { "" } else { ", " });
                }
            }
            text.push_str(";\n");
            let Some(turning) = (0..at.len()).rev().find(|&i| at[i] + 1 < parent_levels[i].len()) else { break };
            at[turning] += 1;
            at[turning + 1..].fill(0);
        }
        text.push_str("}\n");
    }
    Ok(text)
}

fn levels(variable: &Variable) -> Result<Vec<String>> {
    match &variable.kind {
        Kind::Categorical { levels } | Kind::Ordinal { levels } => {
            Ok(levels.iter().map(|level| quoted(&level.to_string())).collect())
        }
        Kind::Continuous { .. } => {
            let advice = "give bins=..., or save the network as JSON";
            Err(Error::column(&*variable.name, "is continuous, and BIF holds levels only", advice))
        }
    }
}

/// A name as it stands if every reader takes it for one word, else in quotation marks.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.+<>=%".contains(c);
    let reserved = ["table", "default", "property", "type", "variable", "probability", "network", "discrete"];
    if !name.is_empty() && name.chars().all(plain) && !reserved.contains(&name) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
