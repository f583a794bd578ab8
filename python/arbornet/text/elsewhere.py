"""Names that people bring from bnlearn, pgmpy, pyAgrum or scikit-learn, and what does the same here.

They are no aliases: one thing has one name. An error that says only that there is no such name sends its reader to the
documentation; one that names ours does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from arbornet.text.near import nearest


def _each(told: Mapping[str, str]) -> dict[str, str]:
    return {name: what for names, what in told.items() for name in names.split()}


_GRAPH_TEST = 'networkx.is_d_separator(net.graph, {"a"}, {"b"}, {"c"})'
_MADE = "a network is made by an.learn(df), an.fit(table, dag, score) or an.load(path)"
_CHANGE = "a network is not changed: copy net.graph, change the copy, and an.fit(table, dag, score)"

OF_PACKAGE = _each(
    {
        "hc tabu hillclimb hillclimbsearch greedy": "an.search.hill_climb(table, score)",
        "ges": "an.search.fges(table, score)",
        "gs iamb fastiamb interiamb pcstable": "an.search.pc(table, score)",
        "mmhc rsmax2 h2pc hpc mmpc": "an.search.hybrid(table)",
        "exhaustivesearch dynamicprogramming": "an.search.exact(candidates), which an.learn(df) does by itself",
        "bootstrength boot bootstrap bootstraps": "an.evaluate.arc_strength(df, score, n_bootstrap=100)",
        "averagednetwork averagenetwork": "an.evaluate.averaged(strengths)",
        "bncv kfold crossval crossvalscore": "an.evaluate.cross_validate(df, score)",
        "bnfit customfit bayesianestimator maximumlikelihoodestimator": "an.fit(table, dag, score)",
        "bayesiannetwork bayesiannetworks discretebayesiannetwork lineargaussianbayesiannetwork bayesnetwork": _MADE,
        "bayesianmodel network bn": _MADE,
        "bnlearner structurelearning learnstructure learnbn": "an.learn(df)",
        "variableelimination beliefpropagation lazypropagation inference cpquery": "net.query('x', given={...})",
        "cpdist rbn simulatedata generatesample forwardsample": "net.sample(n, given={...})",
        "dsep dseparated dseparation isdconnected": f"networkx: {_GRAPH_TEST}",
        "mb markovblanket": "net.markov_blanket('x')",
        "readcsv readfile readsav readspss readstata readdta readexcel readparquet loadcsv loadtable": "an.read(path)",
        "loadbif bifreader loadbn readbn": "an.read_bif(path), or an.load(path) for any format",
        "savebif writebif bifwriter savebn writenet": "net.to_bif(path)",
        "save dump export": "net.save(path)",
        "plot show graphvizplot graphvizcompare": "net.draw()",
        "discretize bin cut": "schema.with_types(x=an.Binned(5)), or an.FayyadIrani()",
        "cpdag pdag": "found.cpdag, or net.cpdag()",
        "hamming": "an.metrics.shd(true, learned)",
        "bge bgescore gaussian lineargaussian loglikgaussian": "an.ConditionalGaussian() or an.DegenerateGaussian()",
        "tan treebayes treesearch": "an.TANClassifier()",
        "datasets loaddataset getexamplemodel": "an.example('penguins')",
        "blacklist whitelist tiers": "an.Constraints(forbidden=[...], required=[...], tiers=[...])",
        "score": "found.score of what a search found, net.log_likelihood(df) of rows, and the scores such as an.BIC()",
    }
)
"""Names of the module."""

OF_NETWORK = _each(
    {
        "edges arcs getedges arclist": "net.graph.edges",
        "nodes variables columns features getnodes": "net.names",
        "dag structure model modelstring": "net.graph",
        "cpds getcpds cpd getcpd cpt cpts getcpt tree trees localmodel": "net['x'], which prints and draws",
        "plot show view tographviz todaft visualize visualise": "net.draw()",
        "html tohtml": "net.report('net.html')",
        "mb blanket getmarkovblanket": "net.markov_blanket('x')",
        "dsep dseparated isdconnected isindependent isdseparated": f"networkx: {_GRAPH_TEST}",
        "children getchildren": "list(net.graph.successors('x'))",
        "getparents": "net.parents('x')",
        "ancestors getancestors": "networkx.ancestors(net.graph, 'x')",
        "descendants getdescendants": "networkx.descendants(net.graph, 'x')",
        "simulate rbn random generate cpdist": "net.sample(n, given={...})",
        "cpquery prob probability posterior infer marginal marginals setevidence": "net.query('x', given={...})",
        "evidence given": "the argument given={...} of net.query and net.sample",
        "mapquery mpe map": "net.predict(row, 'x') of one variable, net.impute(row, how='modes') of all",
        "do intervene intervention": "the argument do={'x': value} of net.query and net.sample",
        "predictprobability probabilities": "net.predict_proba(rows, 'x')",
        "score bic aic loglik loglikelihood logp nll": "net.log_likelihood(df).sum(), and found.score of a search",
        "writebif savebif export write": "net.to_bif(path), or net.save(path)",
        "tojson dump dumps": "net.save(path)",
        "strength strengths arcstrength bootstrength bootstrap": "an.evaluate.arc_strength(df)",
        "summary describe info": "net.explain('x'), or net.report('net.html')",
        "importance featureimportance featureimportances": "net.explain('x') says what each arc is worth",
        "fit learn refit update partialfit": "an.learn(df), or an.fit(table, net.graph, score)",
        "addedge removeedge addarc removearc addedgesfrom setarc droparc reversearc addnode removenode": _CHANGE,
        "copy": "none is needed, as a network never changes",
        "compare shd hamming": "an.metrics.compare(true, net)",
        "types dtypes kinds": "net.schema",
    }
)
"""Names of a network."""

OF_FOUND = _each(
    {
        "edges arcs getedges": "found.dag.edges",
        "nodes variables names": "list(found.dag)",
        "graph net model structure": "found.dag, and an.fit(table, found, score) for a network",
        "fit predict query sample explain": "an.fit(table, found, score), which makes a network",
        "plot draw show report": "an.fit(table, found, score).draw(); in a notebook the graph shows itself",
        "pdag": "found.cpdag",
        "loglik bic loglikelihood": "found.score",
    }
)
"""Names of what a search found."""

_FORBIDDEN = '[("from", "to")]'
_TYPES = 'schema=an.infer_schema(df).with_types(x="categorical")'
_PARTS = 'schema=an.infer_schema(df).without("x"), or a frame without the column'
OF_ARGUMENTS: dict[str, tuple[tuple[str, str], ...]] = {
    name: told
    for names, told in {
        "blacklist black_list forbidden forbidden_edges forbidden_arcs forbid": (
            ("forbidden", f"forbidden={_FORBIDDEN}"),
            ("constraints", f"constraints=an.Constraints(forbidden={_FORBIDDEN})"),
        ),
        "whitelist white_list fixed fixed_edges fixed_arcs required required_edges mandatory include require": (
            ("required", f"required={_FORBIDDEN}"),
            ("constraints", f"constraints=an.Constraints(required={_FORBIDDEN})"),
        ),
        "tiers temporal_order layers slices": (
            ("tiers", 'tiers=[["first"], ["later"]]'),
            ("constraints", 'constraints=an.Constraints(tiers=[["first"], ["later"]])'),
        ),
        "target y label outcome class_node response": (
            ("targets", "targets="),
            ("effort", "a network has no target, as net.predict(rows, 'x') predicts any variable"),
        ),
        "method algorithm algo method_type estimator": (("search", "search='hill_climb' or another search"),),
        "scoring scoring_method score_type scoretype metric": (("score", "score=an.BIC() or another score"),),
        "max_indegree maxp max_in_degree fan_in indegree": (("max_parents", "max_parents=3"),),
        "seed random_state": (
            ("seed", "seed="),
            ("effort", "none is needed, as the result is the same every time"),
        ),
        "bins n_bins discretize discretise breaks": (
            ("schema", "schema=an.infer_schema(df).with_types(x=an.Binned(5))"),
        ),
        "timeout max_time time_budget max_seconds": (("time_limit", "time_limit="),),
        "ignore exclude drop columns usecols ignore_columns features without": (("schema", _PARTS),),
        "types dtypes dtype categorical cat_cols categorical_features ordinal continuous state_names": (
            ("schema", _TYPES),
        ),
        "bootstrap n_bootstrap R replicates n_boot": (("effort", "an.evaluate.arc_strength(df, n_bootstrap=100)"),),
        "alpha test ci_test significance_level": (("effort", "an.search.pc(table, score, alpha=0.01)"),),
        "start start_dag initial": (("effort", "an.search.hill_climb(table, score, start=dag)"),),
        "dag graph structure": (("effort", "an.fit(table, dag, score), which learns no graph"),),
        "evidence observed conditions": (("given", "given={'x': value}"),),
        "intervention interventions": (("do", "do={'x': value}"),),
        "variables variable nodes": (("targets", "targets="),),
        "n_samples size n_rows nsamples": (("n", "n="),),
        "data df X": (("frame", "frame="), ("table", "table=")),
        "n_threads threads workers n_cores": (("n_jobs", "n_jobs="),),
        "show_progress": (("progress", "progress="),),
        "quiet silent debug": (("verbose", "verbose=False"),),
        "equivalent_sample_size iss N0 prior_sample_size": (("ess", "ess="),),
    }.items()
    for name in names.split()
}
"""Names of arguments: what to give instead, if the function has the parameter that comes first."""

OF_SEARCHES = _each(
    {
        "hc tabu hillclimb greedy": "hill_climb",
        "ges": "fges",
        "gs iamb fastiamb interiamb pcstable": "pc",
        "mmhc rsmax2 h2pc hpc": "hybrid",
        "chowliu tree": "chow_liu",
    }
)
"""Names of searches."""


def of_name(name: str, elsewhere: Mapping[str, str], ours: Iterable[str]) -> str:
    """What to add to the message that there is no such name: `: use net.graph.edges`, or a question, or nothing."""
    if name.startswith("_"):
        return ""
    plain = name.casefold().replace("_", "").replace(".", "")
    ours = [one for one in ours if not one.startswith("_")]
    near = nearest(name, ours, alike=0.8)
    if near is None or near.casefold().replace("_", "") != plain:
        told = elsewhere.get(plain)
        if told is not None:
            return f": use {told}" if told.startswith(("an.", "net", "found.", "schema.", "the ")) else f": {told}"
        without = nearest(name.removesuffix("Score"), ours, alike=1.0)
        near = without if without is not None else near
    return "" if near is None else f"; did you mean {near!r}?"


def of_search(name: str, ours: Iterable[str]) -> str:
    """The same of a search: `; did you mean 'hill_climb'?`."""
    told = OF_SEARCHES.get(name.casefold().replace("_", "").replace(".", ""))
    near = nearest(name, ours) if told is None else told
    return "" if near is None else f"; did you mean {near!r}?"


def of_argument(name: str, parameters: Iterable[str]) -> str:
    """The same of an argument that a function has not: `: give given={'x': value}`."""
    known = list(parameters)
    for needed, told in OF_ARGUMENTS.get(name, ()):
        if needed in known:
            return f": {'give ' if told.startswith(f'{needed}=') else 'use ' if told.startswith('an.') else ''}{told}"
    near = nearest(name, known)
    return "" if near is None else f"; did you mean {near!r}?"
