//! How a QR code is to look: the query parameters.

use std::{fmt, ops::RangeInclusive};

use linklet_domain::Invalid;
use linklet_lambda::http::Request;
use qrcodegen::QrCodeEcc;

/// Pixels of an edge.
const SIZES: RangeInclusive<u32> = 64..=2_048;
const DEFAULT_SIZE: u32 = 512;
/// Modules of an edge's margin. Readers expect four (ISO/IEC 18004), fewer are for pages that have light around the code.
const MARGINS: RangeInclusive<u32> = 0..=16;
const DEFAULT_MARGIN: u32 = 4;
/// Cameras read no code whose colours are more alike, at least in bad light.
const LEAST_CONTRAST: f64 = 3.0;

/// What the caller wants.
#[derive(Debug)]
pub struct Design {
    pub format: Format,
    /// Pixels of an edge, with the margin.
    pub size: u32,
    /// The least margin, in modules.
    pub margin: u32,
    /// How much of the code may be damaged.
    pub level: QrCodeEcc,
    pub color: Color,
    /// `None` for a transparent one.
    pub background: Option<Color>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Svg,
    Png,
}

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub [u8; 3]);

impl Color {
    const BLACK: Self = Self([0; 3]);
    const WHITE: Self = Self([255; 3]);

    /// From 1 to 21, by [WCAG](https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio).
    fn contrast(self, other: Self) -> f64 {
        let (one, other) = (self.luminance(), other.luminance());
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    fn luminance(self) -> f64 {
        let [red, green, blue] = self.0.map(|value| {
            let share = f64::from(value) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

/// As SVG and CSS write it, such as `#1a2b3c`.
impl fmt::Display for Color {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(formatter, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl Format {
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}

impl Design {
    pub fn parse(request: &Request) -> Result<Self, Invalid> {
        let design = Self {
            format: request.parsed("format", format)?.unwrap_or(Format::Svg),
            size: number(request, "size", &SIZES)?.unwrap_or(DEFAULT_SIZE),
            margin: number(request, "margin", &MARGINS)?.unwrap_or(DEFAULT_MARGIN),
            level: request.parsed("level", level)?.unwrap_or(QrCodeEcc::Medium),
            color: request.parsed("color", |text| color("color", text))?.unwrap_or(Color::BLACK),
            background: request.parsed("background", background)?.unwrap_or(Some(Color::WHITE)),
        };
        let is_faint = design.background.is_some_and(|behind| design.color.contrast(behind) < LEAST_CONTRAST);
        Invalid::field_when("color", is_faint, "color and background must have a contrast of at least 3:1")?;
        Ok(design)
    }
}

fn format(text: &str) -> Result<Format, Invalid> {
    match text {
        "svg" => Ok(Format::Svg),
        "png" => Ok(Format::Png),
        _ => Err(Invalid::new("format must be svg or png")),
    }
}

fn level(text: &str) -> Result<QrCodeEcc, Invalid> {
    match text {
        "L" => Ok(QrCodeEcc::Low),
        "M" => Ok(QrCodeEcc::Medium),
        "Q" => Ok(QrCodeEcc::Quartile),
        "H" => Ok(QrCodeEcc::High),
        _ => Err(Invalid::new("level must be L, M, Q or H")),
    }
}

fn number(request: &Request, name: &'static str, allowed: &RangeInclusive<u32>) -> Result<Option<u32>, Invalid> {
    request.parsed(name, |text| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|number| is_number && allowed.contains(number));
        let (least, most) = (allowed.start(), allowed.end());
        number.ok_or_else(|| Invalid::new(format!("{name} must be a number from {least} to {most}")))
    })
}

fn background(text: &str) -> Result<Option<Color>, Invalid> {
    if text == "transparent" { Ok(None) } else { color("background", text).map(Some) }
}

/// Three or six hexadecimal digits. The `#` in front may be missing, since a URL needs it encoded.
fn color(name: &str, text: &str) -> Result<Color, Invalid> {
    let parsed = parse_color(text.strip_prefix('#').unwrap_or(text));
    let or_none = if name == "background" { ", or transparent" } else { "" };
    parsed.ok_or_else(|| Invalid::new(format!("{name} must have 3 or 6 hexadecimal digits, such as 1a2b3c{or_none}")))
}

fn parse_color(digits: &str) -> Option<Color> {
    let digits = digits.chars().map(|digit| digit.to_digit(16)?.try_into().ok()).collect::<Option<Vec<u8>>>()?;
    match *digits {
        [red, green, blue] => Some(Color([red * 17, green * 17, blue * 17])),
        [red, red_2, green, green_2, blue, blue_2] => {
            Some(Color([red * 16 + red_2, green * 16 + green_2, blue * 16 + blue_2]))
        }
        _ => None,
    }
}
