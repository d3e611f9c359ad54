//! Hashing and verifying passwords.

use argon2::{
    Argon2, PasswordHasher as _, PasswordVerifier as _,
    password_hash::{self, phc::PasswordHash},
};

/// What a login for an unknown address is checked against, so that it takes as long as one for a known address. Nobody knows
/// a password for it: the output was drawn at random.
const NOBODYS_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bGlua2xldC1ub2JvZHktMQ$mE2tYQx4gqVqfV0uP0dOq3x1p8q7i0m3s6y0s5QJb9c";

/// A password could not be hashed.
#[derive(Debug, thiserror::Error)]
#[error("the password could not be hashed")]
pub struct HashError(#[source] password_hash::Error);

/// Hashes with Argon2id and a random salt. The crate's defaults are OWASP's first choice: 19 MiB, 2 passes, 1 lane.
///
/// # Errors
/// When the operating system has no randomness to give.
pub fn hash(password: &[u8]) -> Result<String, HashError> {
    let hash: PasswordHash = Argon2::default().hash_password(password).map_err(HashError)?;
    Ok(hash.to_string())
}

/// Whether the password belongs to the stored hash, which may be Argon2 or, from an older system, bcrypt. Without a stored
/// hash the answer is no, after the same time.
#[must_use]
pub fn verify(password: &[u8], stored: Option<&str>) -> bool {
    match stored {
        Some(stored) if is_bcrypt(stored) => bcrypt::verify(password, stored).unwrap_or(false),
        Some(stored) => Argon2::default().verify_password(password, stored).is_ok(),
        None => {
            std::hint::black_box(Argon2::default().verify_password(password, NOBODYS_HASH).is_ok());
            false
        }
    }
}

/// Whether a stored hash should be replaced at the next login.
#[must_use]
pub fn is_outdated(stored: &str) -> bool {
    is_bcrypt(stored)
}

fn is_bcrypt(stored: &str) -> bool {
    stored.starts_with("$2")
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_hash_verifies_its_own_password_only() {
        let stored = hash(b"correct horse").unwrap();

        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(verify(b"correct horse", Some(&stored)));
        assert!(!verify(b"wrong horse", Some(&stored)));
        assert_ne!(stored, hash(b"correct horse").unwrap());
    }

    #[test]
    fn a_bcrypt_hash_verifies_and_is_outdated() {
        let stored = bcrypt::hash("correct horse", 4).unwrap();

        assert!(verify(b"correct horse", Some(&stored)));
        assert!(!verify(b"wrong horse", Some(&stored)));
        assert!(is_outdated(&stored));
        assert!(!is_outdated(&hash(b"correct horse").unwrap()));
    }

    #[test]
    fn a_damaged_hash_verifies_nothing() {
        for stored in ["", "$2b$", "$argon2id$", "plain"] {
            assert!(!verify(b"plain", Some(stored)), "{stored}");
        }
    }

    #[test]
    fn an_unknown_address_costs_a_whole_hash_and_never_matches() {
        let parameters = |hash: &str| hash.split('$').skip(1).take(3).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parameters(NOBODYS_HASH), parameters(&hash(b"any").unwrap()));
        PasswordHash::new(NOBODYS_HASH).expect("a damaged hash would be refused at once, without any work");

        let started = Instant::now();
        assert!(!verify(b"any password", None));
        assert!(started.elapsed().as_micros() > 1_000, "no hash was computed");
    }
}
