//! Base62: random text that needs no escaping in a URL.

/// The 62 characters of short codes, API keys and target ids, in ASCII order.
pub const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Generates `length` random characters with the operating system's random number generator.
pub(crate) fn random(length: usize) -> Result<String, getrandom::Error> {
    from_random(length, getrandom::fill)
}

/// Maps random bytes to characters. Bytes from 248 = 4 × 62 on are rejected: `byte % 62` would favour the first 8 characters.
fn from_random<E>(length: usize, mut fill: impl FnMut(&mut [u8]) -> Result<(), E>) -> Result<String, E> {
    const UNBIASED: u8 = 248;
    let mut text = String::with_capacity(length);
    let mut bytes = [0_u8; 16];
    loop {
        fill(&mut bytes)?;
        let usable = bytes.iter().filter(|byte| **byte < UNBIASED);
        text.extend(usable.take(length - text.len()).map(|byte| char::from(ALPHABET[usize::from(byte % 62)])));
        if text.len() == length {
            return Ok(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn biased_bytes_are_dropped_not_folded() {
        let mut rounds = 0;
        let text = from_random(7, |bytes| {
            rounds += 1;
            bytes.fill(if rounds == 1 { 250 } else { 61 });
            Ok::<_, Infallible>(())
        })
        .unwrap();

        assert_eq!(text, "zzzzzzz");
        assert_eq!(rounds, 2);
    }
}
