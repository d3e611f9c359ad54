//! How large a function is to upload.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use flate2::{Compression, write::DeflateEncoder};

/// What a zip archive adds to each file beside its name, which it has twice, and once at its end.
const PER_FILE: u64 = 30 + 46;
const AT_THE_END: u64 = 22;

/// The size of the zip archive of a function, in bytes: of an executable alone, named as Lambda wants it, or of all files in a
/// folder.
///
/// # Errors
/// When a file can't be read.
pub fn zipped_size(package: &Path) -> io::Result<u64> {
    let files = if package.is_dir() { folder_size(package, "")? } else { file_size(package, "bootstrap")? };
    Ok(files + AT_THE_END)
}

fn folder_size(folder: &Path, prefix: &str) -> io::Result<u64> {
    let mut size = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        // Links are followed: an archive holds what they lead to.
        size += match fs::metadata(entry.path())? {
            it if it.is_dir() => folder_size(&entry.path(), &format!("{name}/"))?,
            _ => file_size(&entry.path(), &name)?,
        };
    }
    Ok(size)
}

fn file_size(file: &Path, name: &str) -> io::Result<u64> {
    let mut deflated = DeflateEncoder::new(Counted::default(), Compression::best());
    deflated.write_all(&fs::read(file)?)?;
    Ok(deflated.finish()?.0 + PER_FILE + 2 * name.len() as u64)
}

/// Counts what is written, and forgets it.
#[derive(Default)]
struct Counted(u64);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
