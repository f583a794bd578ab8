//! Where the knots of a candidate are: values of the predictor, found from the top down by numbers of active rows.

use super::spans::Spans;

/// The knots of a candidate, from the top down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// Where.
    pub t: Vec<f64>,
    /// How many active rows lie above.
    pub above: Vec<u32>,
}

/// Active rows, those above first, and where knots are with how many rows above.
pub fn by_rows(z: &[f64], order: &[u32], parent: &[f64], spans: Spans) -> (Vec<u32>, Places) {
    let active = order.iter().filter(|&&row| parent[row as usize] != 0.0).count();
    let mut rows = Vec::with_capacity(active);
    let mut knots = Places::default();
    let n = order.len();
    let mut left = spans.start;
    let mut top = f64::NEG_INFINITY;
    let rest = n.saturating_sub(spans.end + 1);
    for (place, &row) in order.iter().enumerate().take(rest) {
        if parent[row as usize] == 0.0 {
            continue;
        }
        if rows.is_empty() {
            top = z[row as usize];
        }
        rows.push(row);
        let t = z[order[place + 1] as usize];
        if top > t {
            left -= 1;
            if left == 0 {
                left = spans.between;
                knots.t.push(t);
                knots.above.push(rows.len() as u32);
            }
        }
    }
    rows.extend(order[rest..].iter().filter(|&&row| parent[row as usize] != 0.0));
    (rows, knots)
}

/// The same of rows that weigh: as if each took as many places as its weight.
///
/// A place is counted if the value one further down lies below the top, so counting begins one place before the first such
/// value; a knot is the value at the end of the last place counted. What falls on one value several times is one knot.
pub fn by_weights(z: &[f64], order: &[u32], parent: &[f64], weights: &[f64], spans: Spans) -> (Vec<u32>, Places) {
    let is_active = |row: u32| parent[row as usize] != 0.0;
    let total: f64 = order.iter().map(|&row| weights[row as usize]).sum(); // without rounding, in any order
    let last = total - (spans.end + 1) as f64;
    let (mut rows, mut knots) = (Vec::new(), Places::default());
    let Some(first) = order.iter().position(|&row| is_active(row)) else { return (rows, knots) };
    let top = z[order[first] as usize];
    let at_top = order.iter().take_while(|&&row| z[row as usize] >= top);
    let from = at_top.map(|&row| weights[row as usize]).sum::<f64>() - 1.0;
    let between = spans.between as f64;
    let mut left = spans.start as f64;
    let mut knot_at = |position: f64, t: f64, above: usize| {
        if position <= last && t < top && knots.t.last() != Some(&t) {
            knots.t.push(t);
            knots.above.push(above as u32);
        }
    };
    let mut start = 0.0;
    for (place, &row) in order.iter().enumerate() {
        let end = start + weights[row as usize];
        if is_active(row) {
            rows.push(row);
            let counted = (end - from.max(start)).max(0.0);
            let beyond = counted - left;
            if beyond < 0.0 {
                left -= counted;
            } else {
                if beyond > 0.0 {
                    knot_at(end - beyond, z[row as usize], rows.len());
                }
                let since = beyond % between;
                if since == 0.0
                    && let Some(&next) = order.get(place + 1)
                {
                    knot_at(end, z[next as usize], rows.len());
                }
                left = between - since;
            }
        }
        start = end;
    }
    (rows, knots)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows from the top down, among equal values active ones first.
    fn descending(rows: &mut [(i8, bool, u8)]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        rows.sort_by_key(|row| (-row.0, !row.1));
        let z = rows.iter().map(|row| f64::from(row.0)).collect();
        let parent = rows.iter().map(|row| f64::from(u8::from(row.1))).collect();
        (z, parent, rows.iter().map(|row| f64::from(row.2)).collect())
    }

    proptest! {
        #[test]
        fn whole_weights_have_the_knots_of_repeated_rows(
            mut rows in prop::collection::vec((-6..6_i8, prop::bool::weighted(0.8), 1..9_u8), 1..40),
            end in 1..9_usize, start in 1..9_usize, between in 1..9_usize,
        ) {
            let spans = Spans { end, start, between };
            let (z, parent, weights) = descending(&mut rows);
            let order: Vec<u32> = (0..z.len() as u32).collect();
            let (active, weighed) = by_weights(&z, &order, &parent, &weights, spans);
            let mut repeated: Vec<_> =
                rows.iter().flat_map(|row| std::iter::repeat_n((row.0, row.1, 1), usize::from(row.2))).collect();
            let (many_z, many_parent, _) = descending(&mut repeated);
            let many: Vec<u32> = (0..many_z.len() as u32).collect();
            let (_, mut plain) = by_rows(&many_z, &many, &many_parent, spans);
            plain.t.dedup();
            prop_assert_eq!(&weighed.t, &plain.t);
            // Halves of the rows twice, too.
            let twice: Vec<u32> = order.iter().flat_map(|&row| [row, row]).collect();
            let halves: Vec<f64> = weights.iter().map(|w| w / 2.0).collect();
            prop_assert_eq!(by_weights(&z, &twice, &parent, &halves, spans).1.t, weighed.t.clone());
            for (&t, &above) in weighed.t.iter().zip(&weighed.above) {
                let (above, below) = active.split_at(above as usize);
                prop_assert!(above.iter().all(|&row| z[row as usize] >= t));
                prop_assert!(below.iter().all(|&row| z[row as usize] <= t));
            }
        }
    }
}
