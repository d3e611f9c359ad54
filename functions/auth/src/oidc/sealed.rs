//! What a browser keeps for us without being able to read or change it.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use linklet_lambda::http::{ApiError, Result};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

/// A key that seals the values of cookies.
pub(super) struct Seal(RandomizedNonceKey);

impl Seal {
    /// The key that is derived from a secret.
    pub(super) fn of(secret: &str) -> Result<Self> {
        let key = Sha256::digest(format!("linklet sign-in cookie\0{secret}"));
        RandomizedNonceKey::new(&AES_256_GCM, &key).map(Self).map_err(ApiError::internal)
    }

    /// Seals a value under the name of its cookie, so that it is good for nothing in another one.
    pub(super) fn seal(&self, name: &str, value: &impl Serialize) -> Result<String> {
        let mut sealed = serde_json::to_vec(value).map_err(ApiError::internal)?;
        let nonce = self.0.seal_in_place_append_tag(Aad::from(name), &mut sealed).map_err(ApiError::internal)?;
        Ok(BASE64_URL_SAFE_NO_PAD.encode([nonce.as_ref().as_slice(), &sealed].concat()))
    }

    /// The value that was sealed under this name; `None` if none was.
    pub(super) fn open<T: DeserializeOwned>(&self, name: &str, text: &str) -> Option<T> {
        let mut sealed = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, value) = sealed.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let value = self.0.open_in_place(nonce, Aad::from(name), value).ok()?;
        serde_json::from_slice(value).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_and_name_open_what_is_sealed() {
        let (seal, other) = (Seal::of("one secret").unwrap(), Seal::of("another").unwrap());
        let sealed = seal.seal("a", &"value").unwrap();

        assert_eq!(seal.open::<String>("a", &sealed).as_deref(), Some("value"));
        assert_ne!(sealed, seal.seal("a", &"value").unwrap());
        assert_eq!(seal.open::<String>("b", &sealed), None);
        assert_eq!(other.open::<String>("a", &sealed), None);
        for position in [0, 15, sealed.len() - 2] {
            let mut changed = sealed.clone().into_bytes();
            changed[position] = if changed[position] == b'A' { b'B' } else { b'A' };
            assert_eq!(seal.open::<String>("a", str::from_utf8(&changed).unwrap()), None, "{position}");
        }
        for nothing in ["", "AAAA", "no base64 ="] {
            assert_eq!(seal.open::<String>("a", nothing), None, "{nothing}");
        }
    }
}
