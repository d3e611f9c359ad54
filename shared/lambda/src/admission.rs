//! Who may register and found workspaces, as the environment says.

use linklet_domain::{FoundingPolicy, RegistrationPolicy};

use crate::{StartError, config};

/// Who may register without an invitation: `REGISTRATION` and `REGISTRATION_DOMAINS`.
///
/// # Errors
/// When they are missing, or contradict each other.
pub fn registration() -> Result<RegistrationPolicy, StartError> {
    let domains = config::optional("REGISTRATION_DOMAINS").unwrap_or_default();
    Ok(RegistrationPolicy::parse(&config::required("REGISTRATION")?, &domains)?)
}

/// Who may found workspaces: `WHO_FOUNDS_WORKSPACES`, and if that is empty, who may register.
///
/// # Errors
/// When a variable is wrong.
pub fn founding() -> Result<FoundingPolicy, StartError> {
    let who = config::optional("WHO_FOUNDS_WORKSPACES").unwrap_or_default();
    Ok(FoundingPolicy::parse(&who, registration()?)?)
}
