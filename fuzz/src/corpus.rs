//! Corpora: inputs that are kept, a folder for each target. Where something was found, the file's name says what.

use std::path::{Path, PathBuf};

/// Where the inputs of a target are.
pub fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target)
}

/// The inputs of a target with the names of their files, in the order of those.
pub fn of(target: &str) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder(target)).into_iter().flatten().flatten();
    let mut inputs: Vec<(String, Vec<u8>)> = files
        .filter_map(|file| Some((file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path()).ok()?)))
        .collect();
    inputs.sort();
    inputs
}

/// Keeps an input that broke something.
pub fn keep(target: &str, input: &[u8]) -> std::io::Result<PathBuf> {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    input.iter().for_each(|byte| sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let path = folder(target).join(format!("found-{sum:016x}"));
    std::fs::create_dir_all(folder(target))?;
    std::fs::write(&path, input)?;
    Ok(path)
}
