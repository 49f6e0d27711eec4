//! Figures over time in one line of text.

/// Heights that a character can show.
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A line of one character per figure, the lowest at the bottom and the highest at the top. Figures
/// that are all alike are in the middle.
pub fn spark(figures: &[u64]) -> String {
    let low = figures.iter().copied().min().unwrap_or(0);
    let high = figures.iter().copied().max().unwrap_or(0);
    let top = STEPS.len() as u128 - 1;
    let step = |figure: &u64| match high - low {
        0 => STEPS[STEPS.len() / 2],
        range => STEPS[(u128::from(figure - low) * top / u128::from(range)) as usize],
    };
    figures.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::spark;

    #[test]
    fn the_lowest_and_the_highest_fill_the_line() {
        assert_eq!(spark(&[0, 1, 2, 3, 4, 5, 6, 7]), "▁▂▃▄▅▆▇█");
        assert_eq!(spark(&[100, 300, 200]), "▁█▄");
        assert_eq!(spark(&[5, 5]), "▅▅");
        assert_eq!(spark(&[0, u64::MAX]), "▁█");
        assert_eq!(spark(&[]), "");
    }
}
