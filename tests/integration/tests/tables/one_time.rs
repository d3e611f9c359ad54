use std::{cell::Cell, time::Duration};

use futures_util::future::join_all;
use linklet_domain::{Credential, OneTimeToken, SessionId, Timestamp, TokenHash, TokenPurpose, lifetimes};
use linklet_dynamodb::{
    Consistency, NewToken, PasswordChange, PasswordReset, ResetOutcome, Session, SessionStatus, TokenDelivery,
    VerifyOutcome,
};
use linklet_test_support::{Cancellation, Fault, Faults, Person, TestDynamoDb, an_origin, an_origin_at, operator};

use crate::fixture::{network_of, with_person};

const DONE: ResetOutcome = ResetOutcome::Done { is_first_proof: false };
const FIRST_PROOF: ResetOutcome = ResetOutcome::Done { is_first_proof: true };

struct Fixture {
    db: TestDynamoDb,
    ada: Person,
    now: Timestamp,
}

impl Fixture {
    async fn new() -> Self {
        let (db, ada) = with_person("ada").await;
        Self { db, ada, now: Timestamp::now() }
    }

    fn in_minutes(&self, minutes: u64) -> Timestamp {
        self.now.plus(Duration::from_secs(60 * minutes))
    }

    fn new_token(purpose: TokenPurpose) -> TokenHash {
        OneTimeToken::generate(purpose).unwrap().hash()
    }

    async fn issue_reset(&self, issued_at: Timestamp, delivery: TokenDelivery) -> TokenHash {
        let hash = Self::new_token(TokenPurpose::Reset);
        let token = NewToken { hash: &hash, user: &self.ada.id, email: &self.ada.email, issued_at };
        self.db.one_time_tokens().issue_reset(&token, delivery).await.unwrap();
        hash
    }

    async fn issue_verification(&self) -> TokenHash {
        let hash = Self::new_token(TokenPurpose::Verification);
        let token = NewToken { hash: &hash, user: &self.ada.id, email: &self.ada.email, issued_at: self.now };
        self.db.one_time_tokens().issue_verification(&token).await.unwrap();
        hash
    }

    /// A token for a new password, as it is found at once.
    async fn found_reset(&self, delivery: TokenDelivery) -> PasswordReset {
        self.found(&self.issue_reset(self.now, delivery).await, self.now).await.unwrap()
    }

    async fn change_password(&self, new_hash: &str, at: Timestamp) {
        let (user, old_hash) = (&self.ada.id, self.password_hash().await);
        let origin = an_origin(user);
        let change = PasswordChange {
            user,
            old_hash: Some(&old_hash),
            new: Credential::Password(new_hash),
            at,
            but: None,
            origin: &origin,
        };
        assert!(self.db.users().change_password(&change).await.unwrap());
    }

    async fn has_ended(&self, session: SessionId) -> bool {
        let session = Session { id: session, user: self.ada.id, workspace: Some(self.ada.workspace) };
        self.db.sessions().status(&session, Consistency::Strong).await.unwrap() == SessionStatus::Ended
    }

    async fn found(&self, token: &TokenHash, at: Timestamp) -> Option<PasswordReset> {
        self.db.users().reset(token, at).await.unwrap()
    }

    async fn reset(&self, reset: &PasswordReset, hash: &str, at: Timestamp) -> ResetOutcome {
        self.db.users().reset_password(reset, hash, &network_of(&self.ada.email), || at, &operator()).await.unwrap()
    }

    async fn password_hash(&self) -> String {
        self.db.users().account(&self.ada.id).await.unwrap().unwrap().password_hash.unwrap()
    }

    async fn is_verified(&self) -> bool {
        self.db.users().verified_at(&self.ada.id).await.unwrap().is_some()
    }
}

#[tokio::test]
async fn a_token_sets_a_new_password_once_and_ends_all_sessions() {
    let fixture = Fixture::new().await;
    let token = fixture.issue_reset(fixture.now, TokenDelivery::Shown).await;
    let reset = fixture.found(&token, fixture.in_minutes(1)).await.unwrap();

    let first = fixture.reset(&reset, "new", fixture.in_minutes(1)).await;
    let second = fixture.reset(&reset, "newer", fixture.in_minutes(2)).await;

    assert_eq!((first, second), (DONE, ResetOutcome::TokenInvalid));
    assert_eq!(fixture.password_hash().await, "new");
    assert_eq!(fixture.found(&token, fixture.in_minutes(2)).await, None);
    assert!(fixture.has_ended(SessionId::beginning_at(fixture.now)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_eight_uses_of_a_token_at_once_one_succeeds() {
    let fixture = Fixture::new().await;
    let reset = fixture.found_reset(TokenDelivery::Mailed).await;
    let hashes: Vec<_> = (0..8).map(|number| format!("hash {number}")).collect();

    let uses = hashes.iter().map(|hash| fixture.reset(&reset, hash, fixture.in_minutes(1)));
    let outcomes = join_all(uses).await;

    let winners: Vec<_> = outcomes.iter().zip(&hashes).filter(|(outcome, _)| **outcome == FIRST_PROOF).collect();
    assert_eq!(winners.len(), 1, "{outcomes:?}");
    assert_eq!(fixture.password_hash().await, *winners[0].1);
}

#[tokio::test]
async fn a_token_for_a_password_works_for_half_an_hour() {
    let fixture = Fixture::new().await;
    let token = fixture.issue_reset(fixture.now, TokenDelivery::Mailed).await;
    let end = fixture.now.plus(lifetimes::PASSWORD_RESETS);

    assert!(fixture.found(&token, end.minus(Duration::from_millis(1))).await.is_some());
    assert_eq!(fixture.found(&token, end).await, None);
}

/// The attack: whoever has squatted an address changes the password each minute, which makes each token useless that its owner has
/// mailed.
#[tokio::test]
async fn changing_the_password_does_not_invalidate_a_mailed_first_proof() {
    let fixture = Fixture::new().await;
    let [mailed, other, shown] = [
        fixture.found_reset(TokenDelivery::Mailed).await,
        fixture.found_reset(TokenDelivery::Mailed).await,
        fixture.found_reset(TokenDelivery::Shown).await,
    ];
    fixture.change_password("eve", fixture.in_minutes(1)).await;

    let by_shown = fixture.reset(&shown, "shown", fixture.in_minutes(2)).await;
    let by_mail = fixture.reset(&mailed, "owner", fixture.in_minutes(2)).await;
    let again = fixture.reset(&other, "other", fixture.in_minutes(3)).await;

    assert_eq!((by_shown, by_mail), (ResetOutcome::TokenInvalid, FIRST_PROOF));
    assert_eq!(again, ResetOutcome::TokenInvalid, "it is no first proof any more");
    assert_eq!(fixture.password_hash().await, "owner");
}

/// Another transaction may hold up the first try, and somebody may log in meanwhile.
#[tokio::test]
async fn each_try_ends_the_sessions_that_have_begun_by_then() {
    let fixture = Fixture::new().await;
    let reset = fixture.found_reset(TokenDelivery::Mailed).await;
    let (users, faults): (_, Faults) = fixture.db.users_through();
    // A try is two reads and a transaction.
    faults.plan_all([(2, Fault::Cancelled(Cancellation::TransactionConflict))]);
    let tries = Cell::new(0);
    let clock = || {
        tries.set(tries.get() + 1);
        fixture.in_minutes(tries.get())
    };

    let done = users.reset_password(&reset, "new", &network_of(&fixture.ada.email), clock, &operator()).await.unwrap();

    assert_eq!((done, tries.get()), (FIRST_PROOF, 2));
    assert!(fixture.has_ended(SessionId::beginning_at(fixture.in_minutes(1).plus(Duration::from_secs(1)))).await);
}

#[tokio::test]
async fn a_new_password_makes_the_tokens_that_were_made_before_useless() {
    for by_token in [true, false] {
        let fixture = Fixture::new().await;
        let email = &fixture.ada.email;
        let origin = an_origin_at(&fixture.ada.id, fixture.now);
        fixture.db.users().verify_address(&fixture.ada.id, email, &origin).await.unwrap();
        let [earlier, used] =
            [fixture.found_reset(TokenDelivery::Mailed).await, fixture.found_reset(TokenDelivery::Mailed).await];
        let changed_at = fixture.in_minutes(1);
        if by_token {
            assert_eq!(fixture.reset(&used, "new", changed_at).await, DONE);
        } else {
            fixture.change_password("new", changed_at).await;
        }

        let refused = fixture.reset(&earlier, "stolen", fixture.in_minutes(2)).await;
        let later = fixture.issue_reset(fixture.in_minutes(3), TokenDelivery::Mailed).await;
        let later = fixture.found(&later, fixture.in_minutes(3)).await.unwrap();

        assert_eq!(refused, ResetOutcome::TokenInvalid, "by a token: {by_token}");
        assert_eq!(fixture.password_hash().await, "new");
        assert_eq!(fixture.reset(&later, "newer", fixture.in_minutes(4)).await, DONE);
    }
}

#[tokio::test]
async fn only_a_mailed_token_proves_an_address() {
    for (delivery, verified) in [(TokenDelivery::Mailed, true), (TokenDelivery::Shown, false)] {
        let fixture = Fixture::new().await;
        let reset = fixture.found_reset(delivery).await;

        let outcome = fixture.reset(&reset, "new", fixture.in_minutes(1)).await;

        assert_eq!(outcome, ResetOutcome::Done { is_first_proof: verified });
        assert_eq!(fixture.is_verified().await, verified, "{delivery:?}");
    }
}

#[tokio::test]
async fn whoever_ends_all_sessions_at_the_same_time_leaves_the_token_usable() {
    let fixture = Fixture::new().await;
    let reset = fixture.found_reset(TokenDelivery::Mailed).await;
    let origin = an_origin_at(&fixture.ada.id, fixture.in_minutes(1));
    fixture.db.users().end_sessions(&fixture.ada.id, None, &origin).await.unwrap();

    let at_once = fixture.reset(&reset, "new", fixture.in_minutes(1)).await;
    let again = fixture.reset(&reset, "new", fixture.in_minutes(2)).await;

    assert_eq!((at_once, again), (ResetOutcome::Conflict, FIRST_PROOF));
}

#[tokio::test]
async fn an_address_is_verified_with_a_token_once_and_within_a_day() {
    let fixture = Fixture::new().await;
    let (late, token) = (fixture.issue_verification().await, fixture.issue_verification().await);
    let users = fixture.db.users();

    let too_late = users.verification(&late, fixture.now.plus(lifetimes::ADDRESS_VERIFICATIONS)).await.unwrap();
    let found = users.verification(&token, fixture.in_minutes(5)).await.unwrap().unwrap();
    let first = users.verify_with(&found, None, fixture.in_minutes(5), &operator()).await.unwrap();
    let second = users.verify_with(&found, None, fixture.in_minutes(6), &operator()).await.unwrap();

    assert_eq!((too_late, users.verification(&token, fixture.in_minutes(6)).await.unwrap()), (None, None));
    assert_eq!((first, second), (VerifyOutcome::Verified, VerifyOutcome::TokenInvalid));
    assert_eq!(users.verified_at(&fixture.ada.id).await.unwrap(), Some(fixture.in_minutes(5)));
}

#[tokio::test]
async fn a_token_for_one_purpose_is_none_for_the_other() {
    let fixture = Fixture::new().await;
    let (reset, verification) =
        (fixture.issue_reset(fixture.now, TokenDelivery::Mailed).await, fixture.issue_verification().await);

    assert_eq!(fixture.db.users().verification(&reset, fixture.now).await.unwrap(), None);
    assert_eq!(fixture.found(&verification, fixture.now).await, None);
}

#[tokio::test]
async fn an_account_is_found_by_its_address_to_make_it_a_token() {
    let fixture = Fixture::new().await;
    let tokens = fixture.db.one_time_tokens();

    assert_eq!(tokens.account_of(&fixture.ada.email).await.unwrap(), Some(fixture.ada.id));
    assert_eq!(tokens.account_of(&"eve@example.com".parse().unwrap()).await.unwrap(), None);
}
