//! The web application: what lies in `app/` as it is served.
//!
//! All files are in one folder whose name is their hash, so browsers may keep them for ever; only the page itself, which names
//! that folder, is asked for again.

use std::{collections::BTreeMap, error::Error, fs, path::Path};

use sha2::{Digest as _, Sha256};

use crate::modules::{DRAWS, Source, served_as};
use crate::{Output, fingerprint, modules, read};

/// Where the page says in its source that a file is.
const FOLDER: &str = "\"app/";
/// Styles that the first view doesn't need: what they are for loads them.
const LATER_STYLES: [&str; 5] = [
    "pages/compare/compare.css",
    "parts/import/import.css",
    "parts/new-links/new-links.css",
    "parts/print/print.css",
    "parts/qr/qr.css",
];

/// What a browser needs to install the application.
const INSTALLED: [&str; 3] = ["icon-maskable.svg", "icon.svg", "manifest.webmanifest"];

pub fn publish(folder: &Path, output: &Output) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let files = files(folder)?;
    let version = version(&files);
    output.write("app.version", version.as_bytes())?;
    let page = page(&read(&folder.join("index.html"))?, &version)?;
    output.publish("app.html", page.as_bytes())?;

    let mut list = String::from("&[\n");
    for (name, text) in &files {
        output.publish(&format!("app-{name}"), text.as_bytes())?;
        list += &format!("    (\"{name}\", content!(\"app-{name}\", \"{}\")),\n", content_type(name)?);
    }
    list += "]\n";
    output.write("app.rs", list.as_bytes())
}

/// What is served, by name.
fn files(folder: &Path) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    let mut files: BTreeMap<String, String> = modules::join(&sources(folder, folder)?)?
        .into_iter()
        .map(|(bundle, text)| (format!("{bundle}.js"), text))
        .collect();
    files.entry(served_as(DRAWS)).or_default().insert_str(0, &read(&folder.join(DRAWS))?);
    for name in ["uPlot.iife.min.js", "uPlot.min.css"] {
        files.insert(name.to_owned(), read(&folder.join("vendor").join(name))?);
    }
    for path in LATER_STYLES.iter().chain(&INSTALLED) {
        files.insert(served_as(path), read(&folder.join(path))?);
    }
    files.insert("app.css".to_owned(), styles(folder)?);
    Ok(files)
}

/// All modules but those of `vendor/`.
fn sources(folder: &Path, root: &Path) -> Result<Vec<Source>, Box<dyn Error>> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("vendor") {
            sources.extend(sources_within(&path, root)?);
        } else if path.extension().is_some_and(|extension| extension == "js") {
            let name = path.strip_prefix(root)?.to_str().ok_or("a file's name is no text")?;
            sources.push(Source { path: name.to_owned(), text: read(&path)? });
        }
    }
    Ok(sources)
}

fn sources_within(folder: &Path, root: &Path) -> Result<Vec<Source>, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    sources(folder, root)
}

/// `styles/app.css` with what it imports in place of each import, one per line.
fn styles(folder: &Path) -> Result<String, Box<dyn Error>> {
    let folder = folder.join("styles");
    let mut joined = String::new();
    for line in read(&folder.join("app.css"))?.lines().filter(|line| line.starts_with("@import")) {
        let path = line.strip_prefix("@import url(\"").and_then(|rest| rest.strip_suffix("\");"));
        joined += &read(&folder.join(path.ok_or_else(|| format!("app.css: not an import: {line}"))?))?;
    }
    Ok(joined)
}

/// The page with the folder in which its files are.
fn page(source: &str, version: &str) -> Result<String, Box<dyn Error>> {
    let mut pieces = source.split(FOLDER);
    let mut page = pieces.next().unwrap_or_default().replace("content=\"source\"", &format!("content=\"{version}\""));
    for piece in pieces {
        let (path, rest) = piece.split_once('"').ok_or("index.html: an address without an end")?;
        page += &format!("{FOLDER}{version}/{}\"{rest}", served_as(path));
    }
    Ok(page)
}

fn version(files: &BTreeMap<String, String>) -> String {
    let mut hash = Sha256::new();
    for (name, text) in files {
        hash.update(format!("{name} {}\n", fingerprint(text.as_bytes())));
    }
    hex::encode(&hash.finalize()[..12])
}

fn content_type(name: &str) -> Result<&'static str, Box<dyn Error>> {
    match name.rsplit('.').next() {
        Some("js") => Ok("text/javascript; charset=utf-8"),
        Some("svg") => Ok("image/svg+xml"),
        Some("webmanifest") => Ok("application/manifest+json"),
        Some("css") => Ok("text/css; charset=utf-8"),
        _ => Err(format!("{name} is of no kind that is served").into()),
    }
}
