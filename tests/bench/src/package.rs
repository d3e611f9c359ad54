//! How large a function is to upload.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

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

#[cfg(test)]
mod tests {
    use std::{env, process};

    use super::*;

    /// A folder of this test's own, gone when the test is over.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("linklet-bench-{}-{name}", process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn write(&self, name: &str, bytes: &[u8]) -> std::path::PathBuf {
            let file = self.0.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, bytes).unwrap();
            file
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn an_executable_is_deflated_under_the_name_that_lambda_wants() {
        let folder = Folder::new("executable");

        let size = |bytes: &[u8]| zipped_size(&folder.write("redirect", bytes)).unwrap();

        // As `zip` makes it: two bytes of deflate for nothing, and three for one byte.
        assert_eq!(size(b""), 2 + 30 + 46 + 2 * 9 + 22);
        assert_eq!(size(b"x"), 3 + 30 + 46 + 2 * 9 + 22);
        assert!((118..400).contains(&size(&[7; 100_000])));
    }

    #[test]
    fn a_folder_is_all_of_its_files_with_their_paths() {
        let folder = Folder::new("folder");
        folder.write("app.py", b"x");
        folder.write("boto3/session.py", b"x");

        let names = "app.py".len() + "boto3/session.py".len();
        assert_eq!(zipped_size(&folder.0).unwrap(), 2 * (3 + 30 + 46) + 2 * names as u64 + 22);
    }
}
