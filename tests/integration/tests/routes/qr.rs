//! QR codes, read back by an implementation that isn't the one that draws them.

use linklet_qr::QrCodes;
use rqrr::{MetaData, PreparedImage, SimpleGrid};

use crate::{fixture::qr_codes, prelude::*};

/// What the codes of these tests say, unless there is a base for short URLs.
const SAYS: &str = "https://api.example.com/r/launch?qr=1";

async fn get(path: &str) -> Answer {
    qr_codes().get_openly(path).await
}

async fn png(query: &str) -> Image {
    let answer = get(&format!("/launch/qr?format=png{query}")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "image/png"), "{query}: {}", answer.body);
    Image::decode(answer.bytes())
}

async fn svg(query: &str) -> String {
    let answer = get(&format!("/launch/qr{query}")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "image/svg+xml"), "{query}: {}", answer.body);
    answer.body
}

/// The pixels of a PNG image: red, green, blue, and how opaque they are.
struct Image {
    size: usize,
    pixels: Vec<[u8; 4]>,
}

impl Image {
    fn decode(bytes: &[u8]) -> Self {
        let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
        let mut reader = decoder.read_info().unwrap();
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut buffer).unwrap();
        assert_eq!(info.width, info.height);
        let pixels = buffer.as_chunks().0.to_vec();
        Self { size: info.width as usize, pixels }
    }

    fn at(&self, x: usize, y: usize) -> [u8; 4] {
        self.pixels[y * self.size + x]
    }

    fn colors(&self) -> BTreeSet<[u8; 4]> {
        self.pixels.iter().copied().collect()
    }

    /// What a reader finds that sees this color as dark and any other one as light.
    fn read(&self, dark: [u8; 4]) -> (MetaData, String) {
        let brightness = |x, y| if self.at(x, y) == dark { 0 } else { 255 };
        let mut image = PreparedImage::prepare_from_greyscale(self.size, self.size, brightness);
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1);
        grids[0].decode().unwrap()
    }

    /// The first and the last row and column that are not background, and the pixels of a module.
    fn place(&self, dark: [u8; 4]) -> (usize, usize, usize) {
        let rows: Vec<_> = (0..self.size).filter(|&y| (0..self.size).any(|x| self.at(x, y) == dark)).collect();
        let (first, last) = (rows[0], *rows.last().unwrap());
        // The frame of the finder pattern, at the upper left, is seven modules wide.
        let frame = (first..self.size).take_while(|&x| self.at(x, first) == dark).count();
        assert_eq!(frame % 7, 0, "a module is a whole number of pixels wide");
        (first, last, frame / 7)
    }
}

const BLACK: [u8; 4] = [0, 0, 0, 255];
const WHITE: [u8; 4] = [255, 255, 255, 255];

/// The values of an attribute anywhere in a document.
fn attribute<'d>(document: &'d str, element: &str, name: &str) -> Option<&'d str> {
    let tag = document.split(&format!("<{element} ")).nth(1)?.split('>').next()?;
    tag.split(&format!("{name}=\"")).nth(1)?.split('"').next()
}

/// What a reader finds in the path of an SVG document.
fn read_svg(document: &str) -> String {
    let side: usize = attribute(document, "svg", "viewBox").unwrap().split(' ').nth(2).unwrap().parse().unwrap();
    let mut dark = BTreeSet::new();
    for run in attribute(document, "path", "d").unwrap().split('M').skip(1) {
        // 12 4h7v1h-7z
        let (place, rest) = run.split_once('h').unwrap();
        let (x, y) = place.split_once(' ').unwrap();
        let (length, back) = rest.split_once("v1h-").unwrap();
        assert_eq!(format!("{length}z"), back);
        let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
        dark.extend((x..x + length.parse::<usize>().unwrap()).map(|x| (x, y)));
    }
    let margin = dark.iter().map(|(_, y)| *y).min().unwrap();
    let grid = SimpleGrid::from_func(side - 2 * margin, |x, y| dark.contains(&(x + margin, y + margin)));
    rqrr::Grid::new(grid).decode().unwrap().1
}

// ----------------------------------------------------------------------------------------------------------- What is said

#[tokio::test]
async fn a_code_says_the_short_url_marked_as_scanned() {
    assert_eq!(png("").await.read(BLACK).1, SAYS);
    assert_eq!(read_svg(&svg("").await), SAYS);
}

#[tokio::test]
async fn a_code_says_the_configured_base() {
    let base = "https://go.example.com/a&b";
    let codes = QrCodes { short_urls: ShortUrls::new(Some(base)), pages: Pages::of(Some(base)) };

    let svg = codes.get_openly("/launch/qr").await;
    let expected = format!("{base}/launch?qr=1");
    assert_eq!(Image::decode(codes.get_openly("/launch/qr?format=png").await.bytes()).read(BLACK).1, expected);
    assert_eq!(read_svg(&svg.body), format!("{base}/launch?qr=1"));
    assert!(svg.body.contains("<title>QR code of https://go.example.com/a&amp;b/launch</title>"), "{}", svg.body);
    assert_eq!(svg.header("strict-transport-security"), "max-age=31536000");
}

/// No table is asked, so it makes no difference.
#[tokio::test]
async fn a_qr_code_is_drawn_for_any_valid_code_linked_or_not() {
    for code in ["launch", "0000", "AbCdEfGhI9", "a", "a-b_c", &"x".repeat(64)] {
        assert_eq!(get(&format!("/{code}/qr")).await.status, 200, "{code}");
    }
    for other in [&"x".repeat(65), "a.b", "api", "%20%20%20%20"] {
        assert_eq!(get(&format!("/{other}/qr")).await.problem(), (404, "not found".into()), "{other}");
    }
}

#[tokio::test]
async fn every_level_bears_at_least_as_much_damage_as_was_asked_for() {
    // As the two bits in a code say it (ISO/IEC 18004, table 12), in ascending order of what they bear.
    let strength = |level: u16| [1, 0, 3, 2].iter().position(|known| *known == level).unwrap();
    let mut sizes = Vec::new();
    for (wanted, level) in ["L", "M", "Q", "H"].into_iter().enumerate() {
        let (found, text) = png(&format!("&level={level}")).await.read(BLACK);

        assert_eq!(text, SAYS, "{level}");
        assert!(strength(found.ecc_level) >= wanted, "{level}: {}", found.ecc_level);
        sizes.push(found.version.to_size());
    }
    assert!(sizes.is_sorted() && sizes[0] < sizes[3], "{sizes:?}");
}

/// The web application puts a logo there, at most as wide as this. One that is dark all over is the worst for a reader.
#[tokio::test]
async fn the_highest_level_can_be_read_behind_a_logo() {
    for letters in [4, 7, 20, 40, 64] {
        let code = "k".repeat(letters);
        for margin in [0, 4, 10] {
            let answer = get(&format!("/{code}/qr?format=png&size=1024&level=H&margin={margin}")).await;
            let mut image = Image::decode(answer.bytes());
            let (first, last, module) = image.place(BLACK);
            let side = (last + 1 - first) / module;
            // As odd as the side.
            let free = (side * 22 / 100 - 1) | 1;

            let start = first + (side - free) / 2 * module;
            for (x, y) in (0..free * module).flat_map(|x| (0..free * module).map(move |y| (start + x, start + y))) {
                image.pixels[y * image.size + x] = BLACK;
            }

            let (found, text) = image.read(BLACK);
            assert_eq!((found.ecc_level, text), (2, format!("https://api.example.com/r/{code}?qr=1")), "{margin}");
        }
    }
}

// -------------------------------------------------------------------------------------------------------------- The image

#[tokio::test]
async fn an_image_has_its_exact_size_and_centred_whole_pixel_modules() {
    for size in [64, 65, 100, 296, 512, 777, 2_048] {
        for margin in [0, 1, 4, 16] {
            let image = png(&format!("&size={size}&margin={margin}")).await;

            let (first, last, module) = image.place(BLACK);
            assert_eq!(image.size, size);
            assert_eq!((last + 1 - first) % module, 0, "{size}, {margin}");
            let (before, after) = (first, size - 1 - last);
            assert!(before >= margin * module && after >= before && after - before <= 1, "{size}, {margin}: {before}");
            let modules = (last + 1 - first) / module;
            assert!(size < (module + 1) * (modules + 2 * margin), "{size}, {margin}: modules could be larger");
            for (x, y) in (0..size).flat_map(|y| (0..size).map(move |x| (x, y))) {
                let is_code = (first..=last).contains(&x) && (first..=last).contains(&y);
                let corner = |place: usize| if is_code { first + (place - first) / module * module } else { 0 };
                let expected = image.at(corner(x), corner(y));
                assert_eq!(image.at(x, y), expected, "{size}, {margin}: a blurred edge at {x}, {y}");
            }
            if margin > 0 {
                assert_eq!(image.read(BLACK).1, SAYS, "{size}, {margin}");
            }
        }
    }
}

#[tokio::test]
async fn a_size_without_a_pixel_for_each_module_is_refused() {
    let answer = get("/launch/qr?format=png&size=64&margin=16&level=H").await;

    let body = answer.json();
    assert_eq!((answer.status, &body["field"]), (400, &Value::from("size")));
    let sentence = body["error"].as_str().unwrap();
    let least = sentence.strip_prefix("size must be at least ").unwrap().split(' ').next().unwrap();
    assert_eq!(png(&format!("&size={least}&margin=16&level=H")).await.read(BLACK).1, SAYS);
}

#[tokio::test]
async fn an_image_is_small() {
    let bytes = async |query: &str| get(&format!("/launch/qr?format=png{query}")).await.bytes().len();

    assert!(bytes("").await < 1_000);
    assert!(bytes("&size=2048&level=H").await < 6_000);
}

#[tokio::test]
async fn a_code_has_the_colors_that_were_asked_for() {
    let image = png("&color=1a2b3c&background=%23FEDCBA").await;
    assert_eq!(image.colors(), [[0x1a, 0x2b, 0x3c, 255], [0xfe, 0xdc, 0xba, 255]].into());
    assert_eq!(image.read([0x1a, 0x2b, 0x3c, 255]).1, SAYS);
    assert_eq!(png("&color=a0f").await.colors(), [[0xaa, 0, 0xff, 255], WHITE].into());

    let svg = svg("?color=1a2b3c&background=FEDCBA").await;
    assert_eq!((attribute(&svg, "path", "fill"), attribute(&svg, "rect", "fill")), (Some("#1a2b3c"), Some("#fedcba")));
}

#[tokio::test]
async fn a_background_can_be_transparent() {
    let image = png("&background=transparent").await;
    let opacities: BTreeSet<_> = image.colors().into_iter().map(|[.., opacity]| opacity).collect();
    assert_eq!((opacities, image.at(0, 0)[3]), ([0, 255].into(), 0));
    assert_eq!(image.read(BLACK).1, SAYS);

    let svg = svg("?background=transparent").await;
    assert!(!svg.contains("<rect"), "{svg}");
    assert_eq!(read_svg(&svg), SAYS);
}

#[tokio::test]
async fn a_document_scales_has_sharp_edges_and_a_title() {
    let svg = svg("?size=1024&margin=2").await;

    assert_eq!((attribute(&svg, "svg", "width"), attribute(&svg, "svg", "height")), (Some("1024"), Some("1024")));
    assert_eq!(attribute(&svg, "svg", "shape-rendering"), Some("crispEdges"));
    assert_eq!(attribute(&svg, "svg", "role"), Some("img"));
    assert!(svg.contains("<title>QR code of https://api.example.com/r/launch</title>"), "{svg}");
    let side: usize = attribute(&svg, "rect", "width").unwrap().parse().unwrap();
    assert_eq!(attribute(&svg, "svg", "viewBox"), Some(format!("0 0 {side} {side}").as_str()));
    assert!(svg.len() < 5_000, "{}", svg.len());
}

// ------------------------------------------------------------------------------------------------------------- The answer

#[tokio::test]
async fn a_picture_may_be_kept_for_ever_and_do_nothing() {
    for (format, name) in [("svg", "launch.svg"), ("png", "launch.png")] {
        let answer = get(&format!("/launch/qr?format={format}")).await;

        assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable");
        assert_eq!(answer.header("content-disposition"), format!("inline; filename=\"{name}\""));
        assert!(answer.header("content-security-policy").starts_with("default-src 'none';"));
        assert_eq!((answer.header("x-content-type-options"), answer.header("vary")), ("nosniff", "Origin"));
    }
}

#[tokio::test]
async fn a_refusal_is_not_kept() {
    let answer = get("/launch/qr?size=1").await;

    assert_eq!((answer.status, answer.header("cache-control")), (400, "no-store"));
}

#[tokio::test]
async fn an_empty_parameter_is_an_absent_one() {
    assert_eq!(svg("?format=&size=&margin=&level=&color=&background=").await, svg("").await);
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    for (query, field, sentence) in [
        ("format=gif", "format", "format must be svg or png"),
        ("size=63", "size", "size must be a number from 64 to 2048"),
        ("size=99999999999999999999", "size", "size must be a number from 64 to 2048"),
        ("margin=17", "margin", "margin must be a number from 0 to 16"),
        ("level=X", "level", "level must be L, M, Q or H"),
        ("color=12", "color", "color must have 3 or 6 hexadecimal digits, such as 1a2b3c"),
        ("color=%22onload", "color", "color must have 3 or 6 hexadecimal digits, such as 1a2b3c"),
        (
            "background=%C3%A4%C3%A4%C3%A4",
            "background",
            "background must have 3 or 6 hexadecimal digits, such as 1a2b3c, or transparent",
        ),
        ("color=fff", "color", "color and background must have a contrast of at least 3:1"),
        ("color=959595", "color", "color and background must have a contrast of at least 3:1"),
        ("colour=000", "colour", "there is no parameter colour here; did you mean color?"),
    ] {
        let answer = get(&format!("/launch/qr?{query}")).await;

        let body = answer.json();
        assert_eq!((answer.status, &body["error"], &body["field"]), (400, &sentence.into(), &field.into()), "{query}");
    }
}

#[tokio::test]
async fn a_short_url_that_fits_in_no_code_is_refused() {
    let base = format!("https://go.example.com/{}", "a".repeat(1_300));
    let codes = QrCodes { short_urls: ShortUrls::new(Some(&base)), pages: Pages::default() };

    let answer = codes.get_openly("/launch/qr?size=2048&level=H").await;

    assert_eq!((answer.status, &answer.json()["field"]), (400, &"level".into()));
}

#[tokio::test]
async fn nothing_else_is_a_route() {
    for path in ["/launch/qr/", "/launch/QR", "/a/launch/qr"] {
        assert_eq!(get(path).await.problem(), (404, "there is nothing at this address".into()), "{path}");
    }
}
