//! Draws the QR codes of short URLs.
//!
//! A code says nothing but the short URL, so it is drawn without asking whether there is such a link: no table is read, and
//! the picture can be kept for ever.

mod bitmap;
mod design;
mod matrix;
mod svg;

use linklet_domain::ShortCode;
use linklet_lambda::http::{
    self, ApiError, Handler, HeaderValue, Method, Pages, Problem, Request, Response, Result, ShortUrls, StatusCode,
    header,
};

use self::design::{Design, Format};
use self::matrix::Matrix;

/// `GET /{code}/qr`.
#[derive(Debug)]
pub struct QrCodes {
    /// Builds the URL that a code leads to.
    pub short_urls: ShortUrls,
    /// Gives the answers the headers of pages, since a browser shows an SVG document as one.
    pub pages: Pages,
}

/// Whoever reads the code asks for the link with this parameter, by which logs of an edge can tell scans from other visits.
/// Redirects leave it out.
const SCANNED: &str = "?qr=1";
/// An address always has the same picture.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// What an SVG document may load and do: nothing.
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

impl Handler for QrCodes {
    async fn handle(&self, request: &Request) -> Result<Response> {
        match (request.method(), request.segments().as_slice()) {
            (&Method::GET, [code, "qr"]) => self.draw(request, code),
            _ => Err(Problem::RouteUnknown.into()),
        }
    }
}

impl QrCodes {
    fn draw(&self, request: &Request, code: &str) -> Result<Response> {
        let code = ShortCode::parse(code).map_err(|_| ApiError::Problem(Problem::NotFound))?;
        let design = Design::parse(request)?;
        let short_url = self.short_urls.of(request, &code);
        let matrix = Matrix::of(&format!("{short_url}{SCANNED}"), &design)?;
        let picture = match design.format {
            Format::Svg => http::content(StatusCode::OK, "image/svg+xml", svg::draw(&matrix, &design, &short_url)),
            Format::Png => http::content(StatusCode::OK, "image/png", bitmap::draw(&matrix, &design)?),
        };
        self.published(request, picture, &format!("{code}.{}", design.format.extension()))
    }

    fn published(&self, request: &Request, picture: Response, file: &str) -> Result<Response> {
        let mut response = self.pages.protected(picture, request, HeaderValue::from_static(POLICY));
        let disposition = HeaderValue::from_str(&format!("inline; filename=\"{file}\""));
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(FOR_EVER));
        headers.insert(header::CONTENT_DISPOSITION, disposition.map_err(ApiError::internal)?);
        // With CORS, API Gateway adds headers for some origins only, so an answer to one origin isn't right for another.
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        Ok(response)
    }
}
