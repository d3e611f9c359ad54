use linklet_domain::Invalid;
use qrcodegen::QrCode;

use crate::design::Design;

/// The modules of a QR code with their margin.
pub struct Matrix {
    code: QrCode,
    margin: u32,
}

impl Matrix {
    /// The smallest code that says this. If a higher level of error correction needs no larger code, it has that level.
    ///
    /// # Errors
    /// When the text is too long, or when the modules would be smaller than pixels.
    pub fn of(text: &str, design: &Design) -> Result<Self, Invalid> {
        let too_long = |_| Invalid::new("the short URL is too long for a QR code of this level").in_field("level");
        let code = QrCode::encode_text(text, design.level).map_err(too_long)?;
        let matrix = Self { code, margin: design.margin };
        let least = matrix.side();
        if design.size < least {
            return Err(
                Invalid::new(format!("size must be at least {least} with this margin and level")).in_field("size")
            );
        }
        Ok(matrix)
    }

    /// Modules of an edge, without the margin.
    pub fn modules(&self) -> u32 {
        self.code.size().unsigned_abs()
    }

    /// Modules of an edge, with the margin.
    pub fn side(&self) -> u32 {
        self.modules() + 2 * self.margin
    }

    pub fn margin(&self) -> u32 {
        self.margin
    }

    /// The dark modules of each row from top to bottom, as runs: first module and length, without the margin.
    pub fn rows(&self) -> impl Iterator<Item = Vec<(u32, u32)>> {
        let side = self.code.size();
        (0..side).map(move |y| {
            let mut runs: Vec<(u32, u32)> = Vec::new();
            for x in (0..side).filter(|&x| self.code.get_module(x, y)) {
                let x = x.unsigned_abs();
                match runs.last_mut() {
                    Some((first, length)) if *first + *length == x => *length += 1,
                    _ => runs.push((x, 1)),
                }
            }
            runs
        })
    }
}
