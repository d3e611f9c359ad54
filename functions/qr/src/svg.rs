use std::fmt::Write as _;

use crate::{design::Design, matrix::Matrix};

/// An SVG document in which a module is a unit, and each run of dark modules a rectangle of one path. Its title is what
/// screen readers say.
pub fn draw(matrix: &Matrix, design: &Design, short_url: &str) -> String {
    let (size, side, color) = (design.size, matrix.side(), design.color);
    let title = escaped(short_url);
    let background = design
        .background
        .map(|background| format!(r#"<rect width="{side}" height="{side}" fill="{background}"/>"#))
        .unwrap_or_default();
    let path = path(matrix);
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="0 0 {side} {side}" shape-rendering="crispEdges" role="img"><title>QR code of {title}</title>{background}<path fill="{color}" d="{path}"/></svg>"#
    )
}

fn path(matrix: &Matrix) -> String {
    let mut path = String::new();
    for (y, runs) in (matrix.margin()..).zip(matrix.rows()) {
        for (first, length) in runs {
            let x = matrix.margin() + first;
            // Writing to a String can't fail.
            let _ = write!(path, "M{x} {y}h{length}v1h-{length}z");
        }
    }
    path
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
