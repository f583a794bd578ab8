//! The file of one local model: the model, and the variables of its family by their positions in the table.

use serde::{Deserialize, Serialize};

use super::LocalModel;
use crate::error::{Error, Result};
use crate::table::{Kind, Units, Var, Variable};

const FORMAT: &str = "arbornet local model";
const VERSION: u32 = 1;

/// No file makes a table of more variables than this.
const MOST_VARIABLES: usize = 1 << 24;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    format: String,
    version: u32,
    variables: Vec<(Var, Variable)>,
    model: LocalModel,
}

/// The JSON form of a model of these variables.
///
/// # Panics
/// Never: models hold finite numbers and string keys only.
pub fn write(variables: &[Variable], model: &LocalModel) -> String {
    let mut family: Vec<Var> = model.parents().to_vec();
    family.push(model.child());
    family.sort_unstable();
    let variables = family.into_iter().map(|var| (var, variables[var].clone())).collect();
    let saved = Saved { format: FORMAT.to_owned(), version: VERSION, variables, model: model.clone() };
    serde_json::to_string(&saved).expect("models hold finite numbers and string keys only")
}

/// Reads the JSON form: the variables up to the last of the family, those outside of it without a name, and the model.
/// `origin` names the text in errors.
///
/// # Errors
/// If the text is no such form, or model and variables do not fit each other.
pub fn read(text: &str, origin: &str) -> Result<(Vec<Variable>, LocalModel)> {
    let format = |line, problem| Error::Format { origin: origin.to_owned(), line, problem };
    let saved: Saved = serde_json::from_str(text).map_err(|e| format(e.line(), e.to_string()))?;
    opened(saved).map_err(|e| format(1, e.to_string()))
}

fn opened(saved: Saved) -> Result<(Vec<Variable>, LocalModel)> {
    if saved.format != FORMAT || saved.version != VERSION {
        let problem = format!(
            "it is '{}', version {}, where '{FORMAT}', version {VERSION}, is expected",
            saved.format, saved.version
        );
        return Err(Error::Shape(problem));
    }
    let n_vars = saved.variables.iter().map(|(var, _)| var + 1).max().unwrap_or(0);
    if n_vars > MOST_VARIABLES {
        return Err(Error::Shape(format!("variable {} is beyond the largest table", n_vars - 1)));
    }
    let nobody = Variable { name: "".into(), kind: Kind::Continuous { scale: Units::IDENTITY } };
    let mut variables = vec![nobody; n_vars];
    for (var, variable) in saved.variables {
        variables[var] = variable;
    }
    saved.model.check(&variables)?;
    let mut family = saved.model.parents().iter().copied().chain([saved.model.child()]);
    if let Some(var) = family.find(|&var| variables[var].name.is_empty()) {
        return Err(Error::Shape(format!("variable {var} of the model is not described")));
    }
    Ok((variables, saved.model))
}
