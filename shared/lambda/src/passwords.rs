//! Hashing and verifying passwords.

use argon2::password_hash;
use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{
    Algorithm, Argon2, Block, CustomizedPasswordHasher, Params, PasswordHasher, PasswordVerifier as _, Version,
};
use linklet_domain::TypedPassword;
use parking_lot::Mutex;

/// The hash that a login for an unknown address is verified against, so that it takes as long as one for a known address. The
/// hash is random, so no password matches it.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$bGlua2xldC1ub2JvZHktMQ$mE2tYQx4gqVqfV0uP0dOq3x1p8q7i0m3s6y0s5QJb9c";

/// The error of hashing a password.
#[derive(Debug, thiserror::Error)]
#[error("the password could not be hashed")]
pub struct HashError(#[source] password_hash::Error);

/// Hashes and verifies passwords, in working memory that is allocated once.
///
/// An Argon2id hash needs 19 MiB of memory. If each hash allocated it, the memory of an execution environment would grow with
/// every login: for an aligned block, glibc allocates more than the block, so a freed block is too small for the next one.
#[derive(Default)]
pub struct Passwords {
    memory: Mutex<Vec<Block>>,
}

impl Passwords {
    /// Hashes a password with Argon2id and a random salt. The parameters are the crate's defaults, which OWASP recommends: 19 MiB,
    /// 2 passes, 1 lane.
    ///
    /// # Errors
    /// When the operating system's random number generator fails.
    pub fn hash(&self, password: &TypedPassword) -> Result<String, HashError> {
        self.hash_password(password.as_bytes()).map(|hash| hash.to_string()).map_err(HashError)
    }

    /// Whether the password matches the stored hash: Argon2 or, from an older system, bcrypt. Without a stored hash, the result
    /// is `false` after the same time.
    pub fn verify(&self, password: &TypedPassword, stored: Option<&str>) -> bool {
        let password = password.as_bytes();
        match stored {
            Some(stored) if is_bcrypt(stored) => matches_bcrypt(password, stored),
            Some(stored) => self.matches(password, stored),
            None => {
                std::hint::black_box(self.matches(password, DUMMY_HASH));
                false
            }
        }
    }

    fn matches(&self, password: &[u8], stored: &str) -> bool {
        PasswordHash::new(stored).is_ok_and(|stored| self.verify_password(password, &stored).is_ok())
    }
}

impl PasswordHasher<PasswordHash> for Passwords {
    fn hash_password_with_salt(&self, password: &[u8], salt: &[u8]) -> password_hash::Result<PasswordHash> {
        self.hash_password_with_params(password, salt, Params::default())
    }
}

/// As [`Argon2`]'s implementation, except that it reuses the memory. Verification is built on it.
impl CustomizedPasswordHasher<PasswordHash> for Passwords {
    type Params = Params;

    fn hash_password_customized(
        &self,
        password: &[u8],
        salt: &[u8],
        algorithm: Option<&str>,
        version: Option<password_hash::Version>,
        params: Params,
    ) -> password_hash::Result<PasswordHash> {
        let algorithm = algorithm.map(Algorithm::try_from).transpose()?.unwrap_or_default();
        let version = version.map(Version::try_from).transpose()?.unwrap_or_default();
        let salt = Salt::new(salt)?;
        let mut output = [0; Output::MAX_LENGTH];
        let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
        let output = output.get_mut(..length).ok_or(password_hash::Error::OutputSize)?;

        // Data that is left in the memory, also after a panic, is harmless: a hash overwrites all blocks before it reads them.
        let mut memory = self.memory.lock();
        if memory.len() < params.block_count() {
            memory.resize(params.block_count(), Block::new());
        }
        let stored_params = ParamsString::try_from(&params)?;
        let argon2 = Argon2::new(algorithm, version, params);
        argon2.hash_password_into_with_memory(password, &salt, output, memory.as_mut_slice())?;
        Ok(PasswordHash {
            algorithm: algorithm.ident(),
            version: Some(version.into()),
            params: stored_params,
            salt: Some(salt),
            hash: Some(Output::new(output)?),
        })
    }
}

/// Whether a stored hash is one of bcrypt's, which should be replaced at the next login.
pub fn is_bcrypt(stored: &str) -> bool {
    stored.starts_with("$2")
}

fn matches_bcrypt(password: &[u8], stored: &str) -> bool {
    matches_as_far_as_read(password, || bcrypt::verify(password, stored).unwrap_or(false))
}

/// Whether a password is verified, and is no longer than what bcrypt reads of one: otherwise all passwords that begin as the right
/// one would match. A longer one is verified as any, so that it takes as long.
fn matches_as_far_as_read(password: &[u8], verify: impl FnOnce() -> bool) -> bool {
    const READ: usize = 72;
    let begins_as_stored = verify();
    begins_as_stored && password.len() <= READ
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_verifies_its_own_password_only() {
        let passwords = Passwords::default();
        let stored = passwords.hash(&"correct horse".into()).unwrap();

        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(passwords.verify(&"correct horse".into(), Some(&stored)));
        assert!(!passwords.verify(&"wrong horse".into(), Some(&stored)));
        assert_ne!(stored, passwords.hash(&"correct horse".into()).unwrap());
    }

    #[test]
    fn a_hash_is_the_one_that_argon2_itself_computes() {
        let passwords = Passwords::default();
        for (memory, passes, lanes, length) in [(19_456, 2, 1, 32), (64, 3, 2, 16), (32, 1, 4, 64)] {
            let params = Params::new(memory, passes, lanes, Some(length)).unwrap();
            let crates = Argon2::new(Algorithm::Argon2i, Version::V0x10, params.clone())
                .hash_password_with_salt(b"correct horse", b"eight or more")
                .unwrap();

            let ours = passwords
                .hash_password_customized(b"correct horse", b"eight or more", Some("argon2i"), Some(16), params)
                .unwrap();

            assert_eq!(ours.to_string(), crates.to_string());
            assert!(passwords.verify(&"correct horse".into(), Some(&crates.to_string())), "{crates}");
        }
    }

    #[test]
    fn a_bcrypt_hash_verifies_and_is_outdated() {
        let passwords = Passwords::default();
        let stored = bcrypt::hash("correct horse", 4).unwrap();

        assert!(passwords.verify(&"correct horse".into(), Some(&stored)));
        assert!(!passwords.verify(&"wrong horse".into(), Some(&stored)));
        assert!(is_bcrypt(&stored));
        assert!(!is_bcrypt(&passwords.hash(&"correct horse".into()).unwrap()));
    }

    #[test]
    fn what_bcrypt_would_not_read_of_a_password_is_refused() {
        let passwords = Passwords::default();
        let longest = "h".repeat(72);
        let stored = bcrypt::hash(&longest, 4).unwrap();

        assert!(passwords.verify(&longest.as_str().into(), Some(&stored)));
        assert!(bcrypt::verify(format!("{longest} and more"), &stored).unwrap(), "bcrypt itself accepts it");
        assert!(!passwords.verify(&format!("{longest} and more").into(), Some(&stored)));
        assert!(!passwords.verify(&longest[..71].into(), Some(&stored)));
    }

    #[test]
    fn a_password_of_any_length_is_verified_before_it_is_refused() {
        for length in [0, 71, 72, 73, 1_000] {
            let is_verified = std::cell::Cell::new(false);
            let verify = || {
                is_verified.set(true);
                true
            };

            assert_eq!(matches_as_far_as_read(&vec![b'h'; length], verify), length <= 72);
            assert!(is_verified.get(), "{length} bytes are refused without the work of a hash");
        }
    }

    #[test]
    fn a_damaged_hash_verifies_nothing() {
        for stored in ["", "$2b$", "$argon2id$", "$argon2id$v=19$m=19456,t=2,p=1$bGlua2xldC1ub2JvZHktMQ", "plain"] {
            assert!(!Passwords::default().verify(&"plain".into(), Some(stored)), "{stored}");
        }
    }

    #[test]
    fn an_unknown_address_costs_a_whole_hash_and_never_matches() {
        let passwords = Passwords::default();
        let parameters = |hash: &str| hash.split('$').skip(1).take(3).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(parameters(DUMMY_HASH), parameters(&passwords.hash(&"any".into()).unwrap()));
        PasswordHash::new(DUMMY_HASH).expect("a damaged hash would be refused at once, without any work");

        let unused = Passwords::default();
        assert!(!unused.verify(&"any password".into(), None));
        assert_eq!(unused.memory.lock().len(), Params::default().block_count(), "no hash was computed");
    }

    #[test]
    fn all_hashes_share_one_allocation() {
        let passwords = Passwords::default();
        let stored = passwords.hash(&"correct horse".into()).unwrap();
        let allocation = |passwords: &Passwords| {
            let memory = passwords.memory.lock();
            (memory.as_ptr(), memory.capacity())
        };
        let first = allocation(&passwords);

        passwords.hash(&"another".into()).unwrap();
        assert!(passwords.verify(&"correct horse".into(), Some(&stored)));
        assert!(!passwords.verify(&"any password".into(), None));

        assert_eq!(allocation(&passwords), first);
    }
}
