use linklet_lambda::http::{ApiError, Result};
use png::{BitDepth, ColorType, Encoder, EncodingError, Filter};

use crate::design::{Color, Design};
use crate::matrix::Matrix;

/// Bits of a pixel: its index in a palette of two colours.
const BACKGROUND: u8 = 0;

/// A PNG image with one bit for a pixel. Each module is a square of whole pixels, so that no edge is blurred; the pixels that
/// are left over are margin.
pub fn draw(matrix: &Matrix, design: &Design) -> Result<Vec<u8>> {
    encoded(matrix, design).map_err(ApiError::internal)
}

fn encoded(matrix: &Matrix, design: &Design) -> Result<Vec<u8>, EncodingError> {
    let mut image = Vec::new();
    let mut encoder = Encoder::new(&mut image, design.size, design.size);
    encoder.set_color(ColorType::Indexed);
    encoder.set_depth(BitDepth::One);
    // Equal rows follow each other, which is what deflate is good at without the help of a filter.
    encoder.set_filter(Filter::NoFilter);
    let Color(background) = design.background.unwrap_or(Color([255; 3]));
    encoder.set_palette([background, design.color.0].concat());
    if design.background.is_none() {
        encoder.set_trns(vec![BACKGROUND]); // how opaque the first colour is
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels(matrix, design.size))?;
    writer.finish()?;
    Ok(image)
}

/// The rows, each with its pixels packed into bytes.
fn pixels(matrix: &Matrix, size: u32) -> Vec<u8> {
    let scale = size / matrix.side();
    let offset = (size - scale * matrix.modules()) / 2;
    let width = size.div_ceil(8) as usize;
    let (scaled, empty) = (scale as usize, vec![BACKGROUND; width]);
    let mut pixels = Vec::with_capacity(width * size as usize);
    pixels.extend(empty.repeat(offset as usize));
    for runs in matrix.rows() {
        let mut row = empty.clone();
        for (first, length) in runs {
            set(&mut row, offset + first * scale, length * scale);
        }
        pixels.extend(row.repeat(scaled));
    }
    pixels.resize(width * size as usize, BACKGROUND);
    pixels
}

fn set(row: &mut [u8], first: u32, length: u32) {
    for pixel in first..first + length {
        row[pixel as usize / 8] |= 0x80 >> (pixel % 8);
    }
}
