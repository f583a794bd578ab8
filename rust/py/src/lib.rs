//! The Python module `arbornet._core`: converts, releases the GIL, calls the core.

use pyo3::prelude::*;

mod arrays;
mod candidates;
mod custom;
mod errors;
mod exact;
mod forest;
mod frames;
mod handles;
mod jobs;
mod k_best;
mod mdlp;
mod models;
mod network;
mod normal_scores;
mod scores;
mod searches;
mod step1;
mod stop;
mod tests;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(module)?;
    exact::register(module)?;
    handles::register(module)?;
    jobs::register(module)?;
    forest::register(module)?;
    frames::register(module)?;
    module.add_class::<candidates::CandidatesHandle>()?;
    mdlp::register(module)?;
    models::register(module)?;
    network::register(module)?;
    normal_scores::register(module)?;
    k_best::register(module)?;
    scores::register(module)?;
    searches::register(module)?;
    step1::register(module)
}
