//! What people are called, for those who see what they have made.

use std::collections::{BTreeSet, HashMap};

use linklet_domain::{FullName, UserId};

use super::UsersTable;
use super::item::{AddressItem, address_key, user_of_address};
use crate::item::{Key, Table, from_item};
use crate::{RepositoryError, Result};

/// The repository of people's names, which are beside what functions read that verify tokens.
#[derive(Debug, Clone)]
pub struct Names(pub Table);

impl Names {
    /// The names of these people. Who has none, or no account, is left out.
    ///
    /// # Errors
    /// When DynamoDB can't be reached.
    pub async fn names(&self, people: BTreeSet<&UserId>) -> Result<HashMap<UserId, FullName>> {
        const OPERATION: &str = "look up names";
        let keys = people.into_iter().map(address_key).collect();
        let mut names = HashMap::new();
        for item in self.0.batch_get(OPERATION, keys, false, None).await? {
            let key: Key = from_item(OPERATION, item.clone())?;
            let AddressItem { full_name, .. } = from_item(OPERATION, item)?;
            let user = user_of_address(&key).map_err(RepositoryError::unexpected_item(OPERATION))?;
            names.extend(full_name.map(|name| (user, name)));
        }
        Ok(names)
    }
}

impl UsersTable {
    /// The names of people.
    pub fn names(&self) -> Names {
        Names(self.0.clone())
    }
}
