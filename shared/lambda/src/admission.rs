//! Who may register and create workspaces, as the environment says.

use linklet_domain::{CreationPolicy, PasswordLogin, RegistrationPolicy};

use crate::{StartError, config};

/// Who may register without an invitation: `REGISTRATION` and `REGISTRATION_DOMAINS`.
///
/// # Errors
/// When they are missing, or contradict each other.
pub fn registration() -> Result<RegistrationPolicy, StartError> {
    let domains = config::optional("REGISTRATION_DOMAINS").unwrap_or_default();
    Ok(RegistrationPolicy::parse(&config::required("REGISTRATION")?, &domains)?)
}

/// Who may create workspaces: `WHO_CREATES_WORKSPACES`, and if that is empty, who may register.
///
/// # Errors
/// When a variable is wrong.
pub fn creation() -> Result<CreationPolicy, StartError> {
    let who = config::optional("WHO_CREATES_WORKSPACES").unwrap_or_default();
    Ok(CreationPolicy::parse(&who, registration()?)?)
}

/// Whether passwords open accounts: `PASSWORD_LOGIN`, which is on if it is empty.
///
/// # Errors
/// When it is neither on nor off.
pub fn password_login() -> Result<PasswordLogin, StartError> {
    Ok(config::parsed_or_default("PASSWORD_LOGIN")?)
}
