//! The Bayesian interchange format (BIF 0.15, as `JavaBayes`, bnlearn, pgmpy and `aGrUM` write it): networks of levels.
//!
//! Reading is one pass of a hand-written tokenizer and a loop over statements: no recursion, nothing evaluated, every
//! mistake with its line. Names and levels may be quoted, with a backslash before quotes and backslashes; bare words run
//! up to white space or punctuation. A row of probabilities that is off one by rounding (up to 2%) is brought to one.

mod read;
mod write;

pub use read::read;
pub use write::write;

#[cfg(test)]
mod tests {
    use super::{read, write};

    const SPRINKLER: &str = r#"
        network "garden" { property author nobody; }
        variable "wet, grass" { type discrete [ 2 ] { yes, "no way" }; property position = (1, 2); }
        /* a comment */ variable rain { type discrete[2] { yes, no }; }
        probability ( rain ) { table 0.2, 0.8; } // another
        probability ( "wet, grass" | rain ) { (yes) 0.9, 0.1; default 0.25 0.75; }
    "#;

    #[test]
    fn what_is_written_is_read_back() {
        let network = read(SPRINKLER, "text").unwrap();
        assert_eq!(&*network.variables()[0].name, "wet, grass");
        assert_eq!(network.parents(0), [1]);
        let text = write(&network).unwrap();
        assert!(text.contains("\"wet, grass\"") && text.contains("\"no way\""));
        assert_eq!(write(&read(&text, "text").unwrap()).unwrap(), text);
    }

    #[test]
    fn a_table_with_parents_lists_the_child_slowest() {
        let text = "network n {} variable a { type discrete [2] {x, y}; } variable b { type discrete [2] {u, v}; }
            probability (a) { table 0.5, 0.5; } probability (b | a) { table 0.1, 0.2, 0.9, 0.8; }";
        let network = read(text, "text").unwrap();
        let p = |a, b| {
            let given = [crate::predictive::Value::Code(a)];
            network.model(1).predictive(&given).log_density(crate::predictive::Value::Code(b)).exp()
        };
        assert!((p(0, 0) - 0.1).abs() < 1e-12 && (p(1, 0) - 0.2).abs() < 1e-12 && (p(1, 1) - 0.8).abs() < 1e-12);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (from, to, words) in [
            ("0.2, 0.8", "0.2, 0.3", "line 5"),
            ("0.2, 0.8", "0.2", "2 levels"),
            ("(yes)", "(maybe)", "'maybe'"),
            ("| rain", "| snow", "'snow'"),
            ("[ 2 ]", "[ 3 ]", "3 levels"),
            ("default 0.25 0.75;", "", "(no)"),
            ("probability ( rain )", "probability ( rain", "')'"),
            ("table 0.2, 0.8", "table 0.2, x", "'x'"),
            ("0.9, 0.1", "-0.9, 1.9", "-0.9"),
            ("variable rain", "variable \"wet, grass\"", "twice"),
            ("network \"garden\" {", "network \"garden {", "line 3"),
            ("probability ( rain ) {", "probability ( \"rain ) {", "line"),
        ] {
            assert!(SPRINKLER.contains(from));
            let error = read(&SPRINKLER.replace(from, to), "file").unwrap_err().to_string();
            assert!(error.contains(words), "{from} -> {to}: {error}");
        }
    }

    #[test]
    fn a_cycle_is_refused() {
        let text = "variable a { type discrete [1] {x}; } variable b { type discrete [1] {x}; }
            probability (a | b) { (x) 1.0; } probability (b | a) { (x) 1.0; }";
        assert!(read(text, "text").unwrap_err().to_string().contains("cycle"));
    }
}
