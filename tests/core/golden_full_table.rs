//! Full-table scores against a slow literal reference and the authors' program.

use arbornet_core::score::registry::ScoreSpec;

use super::support::golden;

fn every_number_matches(spec: &str, number: impl Fn(&serde_json::Value) -> Option<f64>) -> usize {
    let mut compared = 0;
    for (name, table, json) in golden::pcart() {
        let score = ScoreSpec::parse(spec).unwrap().prepare(&table).unwrap();
        for entry in json["scores"].as_array().unwrap() {
            let (child, parents) = golden::family(&table, entry);
            let Some(expected) = number(entry) else { continue };
            let got = score.score(child, &parents).unwrap();
            assert!((got - expected).abs() < 1e-8, "{name} {}: {got} for {expected}", entry["parents"]);
            compared += 1;
        }
    }
    compared
}

#[test]
fn scores_match_the_literal_reference() {
    let compared = every_number_matches(r#"{"score":"full_table","penalised":false}"#, |e| e["ft"].as_f64());
    assert_eq!(compared, 220);
}

#[test]
fn scores_without_the_prior_over_choices_match_the_literal_reference() {
    let spec = r#"{"score":"full_table","penalised":false,"normalised":false}"#;
    let compared = every_number_matches(spec, |e| e["ft_unnormalised"].as_f64());
    assert_eq!(compared, 220);
}

#[test]
fn published_scores_match_the_authors_program() {
    let spec = r#"{"score":"full_table","penalised":false,"published":true}"#;
    let compared = every_number_matches(spec, |e| e["published"]["ft"].as_f64());
    assert_eq!(compared, 174);
}
