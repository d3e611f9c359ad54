//! Makes all that the function serves, so that it has nothing left to do at run time: the OpenAPI document as JSON, the page
//! that shows it with its content security policy, the web application, all also compressed, and an entity tag of each.

mod app;
mod modules;

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use brotli::{BrotliCompress, enc::BrotliEncoderParams};
use flate2::{Compression, write::GzEncoder};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let output = Output(PathBuf::from(env::var("OUT_DIR")?));

    // Many operations have the same lists of answers, which the default takes for an attack.
    let options = serde_saphyr::options! { budget: serde_saphyr::budget! { enforce_alias_anchor_ratio: false } };
    let document: Node = serde_saphyr::from_str_with_options(&read(&folder.join("../../docs/openapi.yaml"))?, options)?;
    output.publish("openapi.json", serde_json::to_string(&document)?.as_bytes())?;

    let rapidoc = read(&folder.join("assets/rapidoc-min.js"))?;
    output.publish("rapidoc.js", rapidoc.as_bytes())?;
    // The page asks for this version of the script only, which browsers may therefore keep.
    let version = fingerprint(rapidoc.as_bytes());
    output.write("rapidoc.version", version.as_bytes())?;

    let [page, script, tokens] =
        ["assets/docs.html", "assets/docs.js", "app/styles/tokens.css"].map(|name| read(&folder.join(name)));
    let script = script?;
    let page = page?.replace("{version}", &version).replace("{tokens}", &tokens?).replace("{script}", &script);
    output.publish("docs.html", page.as_bytes())?;
    output.write("docs.csp", policy(&script).as_bytes())?;

    app::publish(&folder.join("app"), &output)
}

fn read(path: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

struct Output(PathBuf);

impl Output {
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
        Ok(fs::write(self.0.join(name), bytes)?)
    }

    /// What is served has three forms, and each has a tag of its own: a strong tag stands for exact bytes.
    fn publish(&self, name: &str, plain: &[u8]) -> Result<(), Box<dyn Error>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain)?;
        let compressed = encoder.finish()?;
        let mut smallest = Vec::new();
        BrotliCompress(&mut &*plain, &mut smallest, &BrotliEncoderParams::default())?;
        for (name, bytes) in
            [(name.to_owned(), plain), (format!("{name}.gz"), &compressed), (format!("{name}.br"), &smallest)]
        {
            self.write(&name, bytes)?;
            self.write(&format!("{name}.etag"), format!("\"{}\"", fingerprint(bytes)).as_bytes())?;
        }
        Ok(())
    }
}

fn fingerprint(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes)[..12])
}

/// A part of the document. `Value` would sort members by their names, but people read them in the order of the document.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Node {
    List(Vec<Node>),
    Object(Members),
    Scalar(Value),
}

struct Members(Vec<(String, Node)>);

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, Node>()? {
                    // What only Linklet's own tests read.
                    if name != "x-linklet" {
                        members.push((name, value));
                    }
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// The page runs RapiDoc and the script that is in it, and talks to this API only. RapiDoc's styles are elements and attributes
/// that it makes at run time, which no hash can allow.
fn policy(script: &str) -> String {
    let hash = STANDARD.encode(Sha256::digest(script));
    [
        "default-src 'none'",
        &format!("script-src 'self' 'sha256-{hash}'"),
        "style-src 'unsafe-inline'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    .join("; ")
}
