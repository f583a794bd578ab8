//! A fitted local model as Python holds it.

use std::sync::Arc;

use arbornet_core::model::{Plain, Wording, saved};
use arbornet_core::{Control, Error, Kind, LocalModel, Value, Var, Variable};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::CoreError;
use crate::handles::level_from_python;
use crate::jobs::watched_or_left;
use crate::scores::ScoreHandle;

/// A fitted local model, with its variables. Immutable.
#[pyclass(frozen, module = "arbornet._core")]
pub struct ModelHandle {
    pub variables: Arc<[Variable]>,
    pub model: LocalModel,
}

impl ModelHandle {
    fn name(&self, var: Var) -> String {
        self.variables[var].name.to_string()
    }

    /// A value of the user's as the model stores it.
    fn stored(&self, var: Var, value: &Bound<'_, PyAny>) -> PyResult<Value> {
        let variable = &self.variables[var];
        match &variable.kind {
            Kind::Continuous { scale } => {
                let x: f64 = value.extract().map_err(|_| {
                    let given = value.repr().map_or_else(|_| String::new(), |text| text.to_string());
                    CoreError(Error::column(&*variable.name, format!("cannot be {given}"), "it takes numbers"))
                })?;
                let stored = scale.to_stored(x);
                if scale.log.is_some() && stored.is_nan() && !x.is_nan() {
                    let advice =
                        "its scale is logarithmic, and takes numbers above 0, or from 0 if the training rows held 0";
                    return Err(CoreError(Error::column(&*variable.name, format!("cannot be {x}"), advice)).into());
                }
                Ok(Value::Real(stored))
            }
            Kind::Categorical { levels } | Kind::Ordinal { levels } => {
                let level = level_from_python(&variable.name, value)?;
                let code = levels.iter().position(|l| *l == level).ok_or_else(|| {
                    let known: Vec<_> = levels.iter().take(20).map(ToString::to_string).collect();
                    let advice = format!("its levels are {}", known.join(", "));
                    CoreError(Error::column(&*variable.name, format!("has no level {level}"), advice))
                })?;
                Ok(Value::Code(code as u32))
            }
        }
    }

    fn stored_parents(&self, values: &[Bound<'_, PyAny>]) -> PyResult<Vec<Value>> {
        let parents = self.model.parents();
        if values.len() != parents.len() {
            let problem = format!("{} values for {} parents", values.len(), parents.len());
            return Err(CoreError(Error::Shape(problem)).into());
        }
        parents.iter().zip(values).map(|(&parent, value)| self.stored(parent, value)).collect()
    }
}

/// A Python object with the methods of `Wording`, each of which may return None.
#[derive(FromPyObject)]
#[pyo3(transparent)]
struct Words<'py>(Bound<'py, PyAny>);

impl Words<'_> {
    fn ask<'py, T>(&'py self, method: &str, of: impl PyCallArgs<'py>) -> Option<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        self.0.call_method1(method, of).ok()?.extract().ok()
    }
}

impl Wording for Words<'_> {
    fn class(&self, variable: &str) -> Option<String> {
        self.ask("class_", (variable,))
    }

    fn value(&self, variable: &str, x: f64) -> Option<String> {
        self.ask("value", (variable, x))
    }

    fn threshold(&self, variable: &str, x: f64) -> Option<String> {
        self.ask("threshold", (variable, x))
    }

    fn cut(&self, variable: &str, x: f64) -> Option<String> {
        self.ask("cut", (variable, x))
    }

    fn centre(&self, variable: &str, x: f64, spread: f64) -> Option<String> {
        self.ask("centre", (variable, x, spread))
    }

    fn difference(&self, variable: &str, x: f64) -> Option<String> {
        self.ask("difference", (variable, x))
    }

    fn unit(&self, variable: &str, spread: f64) -> Option<(String, f64)> {
        self.ask("unit", (variable, spread))
    }
}

fn wording<'a>(words: Option<&'a Words<'_>>) -> &'a dyn Wording {
    words.map_or(&Plain, |words| words)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("finite numbers and string keys only")
}

#[pymethods]
#[allow(clippy::needless_pass_by_value)] // the shapes pyo3 extracts
impl ModelHandle {
    /// The model of a score.
    #[staticmethod]
    fn fit(py: Python<'_>, score: &ScoreHandle, child: usize, parents: Vec<usize>) -> PyResult<Self> {
        let parents = score.family(child, &parents)?;
        let (fitted, control) = (score.score.clone(), Control::default());
        let halt = control.halt();
        let model = watched_or_left(py, &control, None, move || fitted.model_until(child, &parents, &halt))?;
        let model = model.map_err(|error| score.raise(py, error))?;
        Ok(Self { variables: score.table.shared_variables(), model })
    }

    /// Reads the JSON form; origin names it in errors.
    #[staticmethod]
    fn from_json(text: &str, origin: &str) -> Result<Self, CoreError> {
        let (variables, model) = saved::read(text, origin)?;
        Ok(Self { variables: variables.into(), model })
    }

    /// The JSON form: the model, and its variables.
    fn to_json(&self) -> String {
        saved::write(&self.variables, &self.model)
    }

    /// The child's name.
    #[getter]
    fn child(&self) -> String {
        self.name(self.model.child())
    }

    /// The parents' names.
    #[getter]
    fn parents(&self) -> Vec<String> {
        self.model.parents().iter().map(|&p| self.name(p)).collect()
    }

    /// Number of free parameters.
    #[getter]
    fn n_parameters(&self) -> usize {
        self.model.n_parameters()
    }

    /// The sum over a decision graph's leaves of their log marginal likelihoods; None for other kinds of model.
    #[getter]
    fn log_marginal(&self) -> Option<f64> {
        let LocalModel::DecisionGraph(graph) = &self.model else { return None };
        Some(graph.log_marginal())
    }

    /// The names of the parents that a decision graph or a tree does not depend on; none for other kinds of model.
    #[getter]
    fn unused(&self) -> Vec<String> {
        let unused = match &self.model {
            LocalModel::DecisionGraph(graph) => graph.unused(),
            LocalModel::Tree(tree) => tree.unused(),
            _ => Vec::new(),
        };
        unused.into_iter().map(|p| self.name(p)).collect()
    }

    /// The same model without its unused parents.
    fn without_unused(&self) -> Self {
        let model = match &self.model {
            LocalModel::DecisionGraph(graph) => LocalModel::DecisionGraph(graph.without_unused()),
            LocalModel::Tree(tree) => LocalModel::Tree(tree.without_unused()),
            other => other.clone(),
        };
        Self { variables: self.variables.clone(), model }
    }

    /// The model drawn as a tree of text; numbers are said as `words` says them.
    #[pyo3(signature = (words = None))]
    fn text(&self, words: Option<Words<'_>>) -> String {
        let words = wording(words.as_ref());
        if let LocalModel::Spline(spline) = &self.model {
            return spline.told(&self.variables, words).text(&self.parents().join(", "), words);
        }
        let description = self.model.describe(&self.variables, words);
        description.map_or_else(|| format!("{} given {}", self.child(), self.parents().join(", ")), |d| d.text(words))
    }

    /// One sentence a leaf, or a term of a spline.
    #[pyo3(signature = (words = None))]
    fn rules(&self, words: Option<Words<'_>>) -> Vec<String> {
        let words = wording(words.as_ref());
        if let LocalModel::Spline(spline) = &self.model {
            return spline.told(&self.variables, words).sentences(words);
        }
        self.model.describe(&self.variables, words).map_or_else(Vec::new, |d| d.rules(words))
    }

    /// The model as nested JSON in the user's units and words; None for a kind without regions.
    #[pyo3(signature = (words = None))]
    fn description(&self, words: Option<Words<'_>>) -> Option<String> {
        self.model.describe(&self.variables, wording(words.as_ref())).map(|d| json(&d))
    }

    /// A spline's terms, in the user's units and words, as JSON; None for another kind of model.
    #[pyo3(signature = (words = None))]
    fn spline(&self, words: Option<Words<'_>>) -> Option<String> {
        let LocalModel::Spline(spline) = &self.model else { return None };
        Some(json(&spline.told(&self.variables, wording(words.as_ref()))))
    }

    /// Every leaf with its conditions, as JSON.
    #[pyo3(signature = (words = None))]
    fn leaves(&self, words: Option<Words<'_>>) -> String {
        let words = wording(words.as_ref());
        self.model.describe(&self.variables, words).map_or_else(|| "[]".to_owned(), |d| json(&d.leaves(words)))
    }

    /// The child's distribution given values of the parents in the user's units and words, as JSON.
    fn predictive(&self, values: Vec<Bound<'_, PyAny>>) -> PyResult<String> {
        let values = self.stored_parents(&values)?;
        Ok(json(&self.model.in_units(&self.model.predictive(&values), &self.variables)))
    }

    /// Log density of a value of the child, in the user's units, given values of the parents.
    fn log_density(&self, value: Bound<'_, PyAny>, values: Vec<Bound<'_, PyAny>>) -> PyResult<f64> {
        let child = self.model.child();
        let values = self.stored_parents(&values)?;
        let value = self.stored(child, &value)?;
        let log_density = self.model.predictive(&values).log_density(value);
        Ok(match (&self.variables[child].kind, value) {
            (Kind::Continuous { scale }, Value::Real(x)) => log_density + scale.log_jacobian(x),
            _ => log_density,
        })
    }

    fn __repr__(&self) -> String {
        format!("ModelHandle({} given [{}])", self.child(), self.parents().join(", "))
    }

    /// Whether the models and their variables are the same, whatever table they came from.
    fn __eq__(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, &'static str))> {
        Ok((py.get_type::<Self>().getattr("from_json")?, (self.to_json(), "pickle")))
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ModelHandle>()
}
