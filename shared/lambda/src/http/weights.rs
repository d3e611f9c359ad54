/// The items of a header such as `Accept` or `Accept-Encoding` with their weights
/// ([RFC 9110, 12.4.2](https://www.rfc-editor.org/rfc/rfc9110#section-12.4.2)): 1 without one, and 0, which means that the item
/// is not accepted, for a weight that is no number.
pub fn weighted(header: &str) -> impl Iterator<Item = (&str, f32)> {
    header.split(',').map(|item| {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        (name, weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_has_its_weight() {
        let items: Vec<_> = weighted("text/html;level=1;q=0.2, a/b ; Q=0.5,c/d, e/f;q=x").collect();

        assert_eq!(items, [("text/html", 0.2), ("a/b", 0.5), ("c/d", 1.0), ("e/f", 0.0)]);
    }
}
