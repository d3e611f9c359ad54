//! What makes a page look like a workspace's.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest as _, Sha256};

use crate::validated::{digest_in_hex, from_text, string_newtype};
use crate::{EmailAddress, Invalid, TargetUrl, WorkspaceId};

/// What is encoded in a `mailto:` address, so that it can't add fields to a mail (RFC 6068).
const MAILTO: &AsciiSet = &NON_ALPHANUMERIC.remove(b'@').remove(b'.').remove(b'-').remove(b'_').remove(b'+');

/// A color as browsers know it: `#` and six hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub struct Color([u8; 3]);

impl Color {
    /// Parses a color in upper or lower case.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let [_, parts @ ..] =
            number.ok_or_else(|| Invalid::new("color must be # and six hexadecimal digits"))?.to_be_bytes();
        Ok(Self(parts))
    }

    /// The color of a text on it: black or white, whichever is easier to read. One of them always has a contrast of at least 4.5:1,
    /// which [WCAG 2.2](https://www.w3.org/TR/WCAG22/#contrast-minimum) asks for.
    pub fn ink(self) -> Self {
        let [black, white] = [Self([0; 3]), Self([255; 3])];
        if self.contrast_with(black) > self.contrast_with(white) { black } else { white }
    }

    /// How well a text is seen on it, from 1 to 21.
    fn contrast_with(self, other: Self) -> f64 {
        let [one, two] = [self.luminance(), other.luminance()];
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// The [relative luminance](https://www.w3.org/TR/WCAG22/#dfn-relative-luminance).
    fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = self.0.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}

impl fmt::Display for Color {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(formatter, "#{red:02x}{green:02x}{blue:02x}")
    }
}

from_text!(Color);

/// Whom visitors may ask: an email address or the https URL of a page, of at most 254 bytes, which an admin has published.
#[derive(Debug, Clone, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub struct Contact(String);

impl Contact {
    /// Reads an email address or a URL.
    ///
    /// # Errors
    /// When the text is neither, or too long.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        const RULE: &str = "contact must be an email address or an https URL of at most 254 bytes";
        let contact = if text.contains("://") {
            TargetUrl::parse(text).ok().map(|url| url.as_str().to_owned()).filter(|url| url.starts_with("https://"))
        } else {
            EmailAddress::parse(text).ok().map(|address| address.as_str().to_owned())
        };
        contact.filter(|text| text.len() <= EmailAddress::MAX_LENGTH).map(Self).ok_or_else(|| Invalid::new(RULE))
    }

    /// Where a link to it leads.
    pub fn href(&self) -> String {
        if self.is_page() { self.0.clone() } else { format!("mailto:{}", utf8_percent_encode(&self.0, MAILTO)) }
    }

    /// How it is written for people.
    pub fn shown(&self) -> &str {
        self.0.strip_prefix("https://").unwrap_or(&self.0).trim_end_matches('/')
    }

    fn is_page(&self) -> bool {
        self.0.starts_with("https://")
    }
}

string_newtype!(Contact);

/// A PNG that stands for a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logo(Vec<u8>);

impl Logo {
    /// Maximum length in bytes.
    pub const MAX_BYTES: usize = 64 << 10;
    /// Maximum width and height in pixels.
    pub const MAX_SIDE: u32 = 1_024;

    /// Takes a file that begins as a PNG does, with its signature and its header
    /// ([PNG](https://www.w3.org/TR/png-3/#5DataRep), 5.2 and 11.2.1).
    ///
    /// # Errors
    /// When the file is none, or too large.
    pub fn parse(file: Vec<u8>) -> Result<Self, Invalid> {
        const BEGINNING: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
        Invalid::when(file.len() > Self::MAX_BYTES, "png must have at most 65,536 bytes")?;
        let header = file.strip_prefix(BEGINNING).and_then(<[u8]>::first_chunk::<17>);
        let [w1, w2, w3, w4, h1, h2, h3, h4, depth, color, 0, 0, 0 | 1, _, _, _, _] =
            *header.ok_or_else(|| Invalid::new("png must be a PNG image"))?
        else {
            return Err(Invalid::new("png must be a PNG image"));
        };
        let is_known = match color {
            0 => matches!(depth, 1 | 2 | 4 | 8 | 16),
            3 => matches!(depth, 1 | 2 | 4 | 8),
            2 | 4 | 6 => matches!(depth, 8 | 16),
            _ => false,
        };
        Invalid::unless(is_known, "png must be a PNG image")?;
        let sides = [[w1, w2, w3, w4], [h1, h2, h3, h4]].map(u32::from_be_bytes);
        let fits = sides.iter().all(|side| (1..=Self::MAX_SIDE).contains(side));
        Invalid::unless(fits, "png must have at most 1,024 × 1,024 pixels")?;
        Ok(Self(file))
    }

    /// The file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Under which id a workspace has it.
    pub fn id_in(&self, workspace: &WorkspaceId) -> LogoId {
        let digest = Sha256::new().chain_update(workspace.to_string()).chain_update(&self.0).finalize();
        LogoId(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The id of a workspace's logo: a hash of both, so that another file has another id, nobody guesses it who doesn't know the workspace's,
/// and no other workspace has it.
#[derive(Debug, Clone, PartialEq, Eq, SerializeDisplay, DeserializeFromStr)]
pub struct LogoId(String);

impl LogoId {
    /// Parses 64 lower-case hexadecimal digits.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        digest_in_hex(text).map(Self).ok_or_else(|| Invalid::new("the id of a logo must be 64 hexadecimal digits"))
    }
}

string_newtype!(LogoId);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        file.extend([width.to_be_bytes(), height.to_be_bytes()].concat());
        file.extend([8, 6, 0, 0, 0, 1, 2, 3, 4]);
        file
    }

    #[test]
    fn a_color_has_six_digits_and_is_kept_in_lower_case() {
        assert_eq!(Color::parse("#2F5bd7").unwrap().to_string(), "#2f5bd7");
        for refused in ["", "#", "2f5bd7", "#2f5bd", "#2f5bd77", "#2f5bdg", "#+12345", "red", "#fff", "#ü2345"] {
            assert!(Color::parse(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_text_is_white_on_dark_colors_and_black_on_light_ones() {
        let ink = |color: &str| Color::parse(color).unwrap().ink().to_string();
        assert_eq!([ink("#000000"), ink("#2f5bd7"), ink("#b3261e")], ["#ffffff"; 3]);
        assert_eq!([ink("#ffffff"), ink("#ffd400"), ink("#8aa9ff")], ["#000000"; 3]);
    }

    proptest! {
        #[test]
        fn a_text_can_be_read_on_every_color(parts in any::<[u8; 3]>()) {
            let color = Color(parts);

            prop_assert!(color.contrast_with(color.ink()) >= 4.5);
            prop_assert_eq!(Color::parse(&color.to_string()), Ok(color));
        }
    }

    #[test]
    fn whom_to_ask_is_an_address_or_a_page() {
        let shown = |text: &str| Contact::parse(text).map(|contact| (contact.href(), contact.shown().to_owned())).ok();
        let both = |href: &str, shown: &str| Some((href.to_owned(), shown.to_owned()));

        assert_eq!(shown(" Help@Example.com "), both("mailto:help@example.com", "help@example.com"));
        // What an address may have adds no field to a mail.
        let odd = "help?bcc=eve&x@example.com";
        assert_eq!(shown(odd), both("mailto:help%3Fbcc%3Deve%26x@example.com", odd));
        assert_eq!(shown("https://example.com/help/"), both("https://example.com/help/", "example.com/help"));
        for refused in
            ["", "help", "http://example.com", "javascript://x", "https://ada:secret@example.com", "ftp://a.b"]
        {
            assert_eq!(shown(refused), None, "{refused}");
        }
        assert_eq!(shown(&format!("https://example.com/{}", "x".repeat(240))), None);
    }

    #[test]
    fn a_logo_is_a_png_of_at_most_a_thousand_pixels_and_64_kilobytes() {
        let sentence = |file: Vec<u8>| Logo::parse(file).unwrap_err().to_string();
        let of_length = |bytes: usize| [png(1, 1), vec![0; bytes - png(1, 1).len()]].concat();
        let with = |at: usize, byte: u8| {
            let mut file = png(16, 16);
            file[at] = byte;
            file
        };

        assert!(Logo::parse(png(1_024, 1_024)).is_ok() && Logo::parse(of_length(65_536)).is_ok());
        assert_eq!(sentence(of_length(65_537)), "png must have at most 65,536 bytes");
        for (width, height) in [(0, 1), (1, 0), (1_025, 1), (1, 1_025), (u32::MAX, 1)] {
            assert_eq!(sentence(png(width, height)), "png must have at most 1,024 × 1,024 pixels");
        }
        let (short, gif, svg) = (png(1, 1)[..32].to_vec(), b"GIF89a".to_vec(), b"<svg onload='alert(1)'>".to_vec());
        for no_png in
            [Vec::new(), short, gif, svg, with(0, b'P'), with(12, b'i'), with(24, 3), with(25, 5), with(28, 2)]
        {
            assert_eq!(sentence(no_png), "png must be a PNG image");
        }
    }

    #[test]
    fn the_id_of_a_logo_is_of_its_content_and_its_workspace() {
        let [one, two] = [Logo::parse(png(1, 1)).unwrap(), Logo::parse(png(1, 2)).unwrap()];
        let [ours, theirs] = [WorkspaceId::generate(), WorkspaceId::generate()];

        assert_eq!(one.id_in(&ours), one.clone().id_in(&ours));
        assert!(one.id_in(&ours) != two.id_in(&ours) && one.id_in(&ours) != one.id_in(&theirs));
        assert_eq!(LogoId::parse(one.id_in(&ours).as_str()), Ok(one.id_in(&ours)));
    }
}
