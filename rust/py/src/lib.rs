//! The Python module `arbornet._core`: converts, releases the GIL, calls the core.

use pyo3::prelude::*;

mod candidates;
mod classes;
mod custom;
mod decision_graph;
mod errors;
mod exact;
mod forest;
mod frames;
mod greedy;
mod handles;
mod jobs;
mod judged;
mod mdlp;
mod models;
mod network;
mod scores;
mod step1;
mod stop;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    decision_graph::register(module)?;
    errors::register(module)?;
    classes::register(module)?;
    exact::register(module)?;
    greedy::register(module)?;
    handles::register(module)?;
    judged::register(module)?;
    jobs::register(module)?;
    forest::register(module)?;
    frames::register(module)?;
    module.add_class::<candidates::CandidatesHandle>()?;
    mdlp::register(module)?;
    models::register(module)?;
    network::register(module)?;
    scores::register(module)?;
    step1::register(module)
}
