//! Cells that no spreadsheet takes for formulas, and the texts that they stand for.

const SEPARATORS: [char; 4] = [';', '\t', '\n', '\r'];
const FORMULAS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
const APOSTROPHE: char = '\'';

/// A text as a cell that spreadsheets take for text: whoever clicks on a link chooses some of them. What would begin a formula gets an
/// apostrophe, also behind apostrophes of its own, so that [`text_of`] finds the text again.
pub fn cell_of(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    let mut from = 0;
    for at in formulas(text) {
        cell.push_str(&text[from..at]);
        cell.push(APOSTROPHE);
        from = at;
    }
    cell.push_str(&text[from..]);
    cell
}

/// The text that a cell stands for. It is that of [`cell_of`], and with fewer apostrophes that of other programs that write such cells.
pub fn text_of(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut from = 0;
    for at in formulas(cell) {
        text.push_str(&cell[from..at]);
        from = at + usize::from(cell[at..].starts_with(APOSTROPHE));
    }
    text.push_str(&cell[from..]);
    text
}

/// Where formulas begin, or the apostrophes before them. Where a list is written with semicolons, they begin a cell behind each, and
/// behind tabs and line breaks. What begins a formula also does in its full-width form.
fn formulas(text: &str) -> impl Iterator<Item = usize> {
    let mut begins = true;
    text.char_indices().filter_map(move |(at, letter)| {
        let is_formula = begins && text[at..].trim_start_matches(APOSTROPHE).starts_with(FORMULAS);
        begins = SEPARATORS.contains(&letter) || (begins && letter == '"');
        is_formula.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", "＋1", "－1", "＠SUM(A1)", "'=1", "''-1"] {
            assert_eq!(cell_of(formula), format!("'{formula}"));
            for before in [";", "\t", "\n", "\r\n", "a;", "\"b\";", "a;\""] {
                assert_eq!(cell_of(&format!("{before}{formula}")), format!("{before}'{formula}"));
            }
        }
        for text in ["", "Firefox", "1-1", "'", "'a=1", "X11; Linux", "a\r\nb", "[\"=1\"]"] {
            assert_eq!(cell_of(text), text);
        }
    }

    #[test]
    fn what_is_no_formula_keeps_its_apostrophes() {
        for text in ["", "'tis", "a'=1", "=1", "it's; '", "\"'"] {
            assert_eq!(text_of(text), text);
        }
    }

    proptest! {
        #[test]
        fn a_cell_tells_its_text(text in "[='\";\n\ta＝@é-]{0,12}") {
            prop_assert_eq!(text_of(&cell_of(&text)), text);
        }
    }
}
