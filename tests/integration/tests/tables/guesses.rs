use std::time::{Duration, Instant};

use futures_util::{StreamExt, future::join_all, stream};
use linklet_domain::{
    AccountHash, Correspondent, EmailAddress, EmailRequestId, FamiliarNetwork, Guess, GuessKind, Guesser, HashBudget,
    HashFor, Hasher, IpHash, MailCount, MailLimit, Patience, ThrottleSubject, Timestamp, UserId, lifetimes,
};
use linklet_dynamodb::{AdmittedGuess, GuessOutcome, MailAdmission, ThrottleTable};
use linklet_test_support::{CapacityMeter, Faults, TestDynamoDb, item_bytes};

use crate::fixture::{noon, salt};

const SECOND: Duration = Duration::from_secs(1);
const ADDRESS: &str = "203.0.113.9";
const ADA: &str = "ada@example.com";

fn guess(account: &str, address: &str) -> Guess {
    Guess {
        kind: GuessKind::Password,
        senders: ThrottleSubject::all_at(address, &salt()),
        account: Some(AccountHash::of(account, &salt())),
    }
}

fn patience() -> Patience {
    Guesser::Strangers(AccountHash::of(ADA, &salt())).patience(GuessKind::Password)
}

async fn admit(table: &ThrottleTable, guess: &Guess, now: Timestamp) -> Result<AdmittedGuess, Duration> {
    match table.admit_guess(guess, now).await.unwrap() {
        GuessOutcome::Admitted(admitted) => Ok(admitted),
        GuessOutcome::MustWait { wait, counted } => {
            table.give_back(&counted).await.unwrap();
            Err(wait)
        }
    }
}

/// How many of so many guesses at this time are admitted, one after another.
async fn admitted(table: &ThrottleTable, guess: &Guess, guesses: usize, now: Timestamp) -> usize {
    let mut admitted = 0;
    for _ in 0..guesses {
        admitted += usize::from(admit(table, guess, now).await.is_ok());
    }
    admitted
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_guesses_at_an_account_at_once_five_are_admitted() {
    let db = TestDynamoDb::start();
    let guesses: Vec<Guess> = (0..100).map(|host| guess(ADA, &format!("203.0.113.{host}"))).collect();
    let table = db.calls();

    let outcomes: Vec<_> =
        stream::iter(&guesses).map(|guess| admit(&table, guess, noon())).buffer_unordered(50).collect().await;

    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 5);
    assert_eq!(admit(&table, &guesses[0], noon()).await.unwrap_err(), SECOND);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_hundred_guesses_from_an_address_at_once_ten_are_admitted() {
    let db = TestDynamoDb::start();
    let guesses: Vec<Guess> = (0..200).map(|number| guess(&format!("user{number}@example.com"), ADDRESS)).collect();
    let table = db.calls();

    let outcomes: Vec<_> =
        stream::iter(&guesses).map(|guess| admit(&table, guess, noon())).buffer_unordered(50).collect().await;

    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 10);
    let items = db.scan("ThrottleTable");
    let at_accounts = items.iter().filter(|item| item["pk"]["S"].as_str().unwrap().starts_with("GUESS#ACCOUNT#"));
    assert_eq!(at_accounts.count(), 10, "the others count for no account");
}

#[tokio::test]
async fn a_refused_guess_counts_for_nobody() {
    let db = TestDynamoDb::start();
    assert_eq!(admitted(&db.calls(), &guess(ADA, ADDRESS), 40, noon()).await, 5);

    let others = (0..40).map(|number| guess(&format!("user{number}@example.com"), ADDRESS));
    let mut from_there = 0;
    for guess in others {
        from_there += admitted(&db.calls(), &guess, 1, noon()).await;
    }

    assert_eq!(from_there, 5, "ten less the five that were admitted");
}

#[tokio::test]
async fn each_further_guess_waits_twice_as_long_and_failures_are_forgotten() {
    let (db, guess) = (TestDynamoDb::start(), guess(ADA, ADDRESS));
    let (table, mut now) = (db.calls(), noon());
    assert_eq!(admitted(&table, &guess, 10, now).await, 5);

    for seconds in [1, 2, 4, 8, 16] {
        assert_eq!(admit(&table, &guess, now).await.unwrap_err(), SECOND * seconds);
        now = now.plus(SECOND * seconds);
        assert_eq!(admitted(&table, &guess, 2, now).await, 1, "after {seconds} s");
    }

    let later = now.plus(patience().forgets_one_after * 10);
    assert_eq!(admitted(&table, &guess, 10, later).await, 5, "all are forgotten");
}

#[tokio::test]
async fn a_guess_that_is_given_back_leaves_no_wait() {
    let (db, guess) = (TestDynamoDb::start(), guess(ADA, ADDRESS));
    let table = db.calls();
    for _ in 0..20 {
        let right = admit(&table, &guess, noon()).await.unwrap();
        table.give_back(&right).await.unwrap();
    }
    assert_eq!(admitted(&table, &guess, 4, noon()).await, 4);

    for _ in 0..3 {
        let fifth = admit(&table, &guess, noon()).await.unwrap();
        assert_eq!(admit(&table, &guess, noon()).await.unwrap_err(), SECOND, "while nobody knows");
        table.give_back(&fifth).await.unwrap();
    }
}

#[tokio::test]
async fn giving_back_a_guess_leaves_a_wait_that_another_began() {
    let (db, guess) = (TestDynamoDb::start(), guess(ADA, ADDRESS));
    let table = db.calls();
    assert_eq!(admitted(&table, &guess, 4, noon()).await, 4);
    let slow = admit(&table, &guess, noon()).await.unwrap();
    let later = noon().plus(SECOND);
    assert_eq!(admitted(&table, &guess, 1, later).await, 1);

    table.give_back(&slow).await.unwrap();

    assert_eq!(admit(&table, &guess, later).await.unwrap_err(), SECOND * 2);
}

#[tokio::test]
async fn strangers_guesses_do_not_delay_networks_that_signed_in_before() {
    let (table, home) = (TestDynamoDb::start().calls(), guess(ADA, ADDRESS));
    table.remember_sign_in(&home, None, noon()).await.unwrap();
    for host in 10..60 {
        admitted(&table, &guess(ADA, &format!("203.0.113.{host}")), 1, noon()).await;
    }
    for number in 0..40 {
        admitted(&table, &guess(&format!("user{number}@example.com"), ADDRESS), 1, noon()).await;
    }

    let ours = admit(&table, &home, noon()).await.unwrap();

    assert!(ours.is_familiar());
    assert_eq!(admitted(&table, &home, 10, noon()).await, 4, "with a count of its own");
    let network = admit(&table, &guess(ADA, "2001:db8::1"), noon()).await;
    assert!(network.is_err(), "elsewhere, the account is guessed at too often");
}

#[tokio::test]
async fn a_sign_in_is_remembered_ninety_days_and_written_once_a_day() {
    let (db, writes) = (TestDynamoDb::start(), Faults::default());
    let table = ThrottleTable::new(db.table_with(writes.clone(), "ThrottleTable"));
    let home = guess(ADA, ADDRESS);
    let sign_in = async |now: Timestamp| {
        let admitted = admit(&table, &home, now).await.unwrap();
        table.give_back(&admitted).await.unwrap();
        writes.plan(None);
        table.remember_sign_in(&home, Some(&admitted), now).await.unwrap();
        (admitted.is_familiar(), writes.calls())
    };
    let day = SECOND * 86_400;

    assert_eq!(sign_in(noon()).await, (false, 1));
    assert_eq!(sign_in(noon().plus(SECOND)).await, (true, 0));
    assert_eq!(sign_in(noon().plus(day)).await, (true, 1));
    let end = noon().plus(day + lifetimes::FAMILIAR_ADDRESSES);
    assert!(sign_in(end.minus(SECOND)).await.0);
    assert!(!admit(&db.calls(), &guess(ADA, "203.0.113.10"), noon()).await.unwrap().is_familiar());
    let forgotten = end.plus(lifetimes::FAMILIAR_ADDRESSES);
    assert!(!admit(&table, &home, forgotten).await.unwrap().is_familiar());
}

#[tokio::test]
async fn a_reclaim_forgets_earlier_sign_ins_except_from_its_own_network() {
    const OWN: &str = "203.0.113.10";
    let (db, later) = (TestDynamoDb::start(), noon().plus(60 * SECOND));
    let table = db.calls();
    let sign_ins =
        [(ADA, ADDRESS, noon()), (ADA, OWN, noon()), (ADA, "2001:db8::1", later), ("bob@example.com", ADDRESS, noon())];
    for (account, address, at) in sign_ins {
        table.remember_sign_in(&guess(account, address), None, at).await.unwrap();
    }
    admitted(&table, &guess(ADA, ADDRESS), 3, noon()).await;
    let reclaimed_from =
        FamiliarNetwork { account: AccountHash::of(ADA, &salt()), network: IpHash::of_network(OWN, &salt()) };

    let forget = async |until| table.forget_sign_ins(&reclaimed_from, noon().plus(SECOND), until).await.unwrap();
    let now = Instant::now();
    assert_eq!((forget(now).await, forget(now + 60 * SECOND).await), (false, true), "in the next turn");

    let mut familiar = Vec::new();
    for (account, address, _) in sign_ins {
        familiar.push(admit(&table, &guess(account, address), later).await.unwrap().is_familiar());
    }
    assert_eq!(familiar, [false, true, true, true]);
}

#[tokio::test]
async fn networks_of_ipv6_share_what_is_free() {
    let (table, mut passed) = (TestDynamoDb::start().calls(), 0);
    for number in 0..50 {
        let address = format!("2001:db8:1:{number:x}::1");
        passed += admitted(&table, &guess(&format!("user{number}@example.com"), &address), 1, noon()).await;
    }

    assert_eq!(passed, 40, "as many as are free for a /56");
}

#[tokio::test]
async fn nothing_readable_is_stored_and_ttl_removes_what_is_forgotten() {
    let db = TestDynamoDb::start();
    let (table, long_ago) = (db.calls(), Timestamp::now().minus(SECOND * 86_400 * 91));
    admitted(&table, &guess(ADA, ADDRESS), 7, long_ago).await;
    table.remember_sign_in(&guess(ADA, ADDRESS), None, long_ago).await.unwrap();
    table.spend_hashes(&hasher(HashFor::Known, 0), 1, budget(20), long_ago).await.unwrap();
    table.admit_mail(&reader(ADA), MailCount::Resets, "long ago", long_ago).await.unwrap();
    let stored = format!("{:?}", db.scan("ThrottleTable"));
    assert!(!stored.contains("ada@") && !stored.contains("203.0"), "{stored}");
    assert_eq!(db.scan("ThrottleTable").len(), 5);
    table.remember_sign_in(&guess(ADA, ADDRESS), None, Timestamp::now()).await.unwrap();

    db.sweep_ttl();

    assert_eq!(db.scan("ThrottleTable").len(), 1, "where somebody has signed in from");
}

#[tokio::test]
async fn a_guess_that_has_to_wait_costs_reads_only() {
    let (table, meter): (_, CapacityMeter) = TestDynamoDb::start().through(ThrottleTable::new, "ThrottleTable");
    let cost = async |guess: &Guess| {
        meter.reset();
        admitted(&table, guess, 1, noon()).await;
        meter.spent()
    };

    assert_eq!(cost(&guess(ADA, ADDRESS)).await, (2.0, 2.0), "the address and the account");
    admitted(&table, &guess(ADA, ADDRESS), 4, noon()).await;
    assert_eq!(cost(&guess(ADA, ADDRESS)).await, (2.0, 0.0));
    table.remember_sign_in(&guess(ADA, ADDRESS), None, noon()).await.unwrap();
    assert_eq!(cost(&guess(ADA, ADDRESS)).await, (2.0, 1.0), "where somebody has signed in from");
    assert_eq!(cost(&guess("bob@example.com", "2001:db8::1")).await, (3.0, 4.0), "three networks");
}

// --------------------------------------------------------------------------------------------------------------- hashes

fn hasher_at(class: HashFor, address: &str, account: &str) -> Hasher {
    Hasher { class, network: IpHash::of_site(address, &salt()), account: AccountHash::of(account, &salt()) }
}

/// Somebody with a network and an account of their own.
fn hasher(class: HashFor, number: usize) -> Hasher {
    hasher_at(class, &format!("10.{}.{}.1", number / 256, number % 256), &format!("user{number}@example.com"))
}

fn budget(hashes: u32) -> HashBudget {
    hashes.to_string().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_hashes_at_once_only_the_budget_is_computed() {
    let db = TestDynamoDb::start();
    let environments: Vec<ThrottleTable> = (0..50).map(|_| db.calls()).collect();
    let spend = async |number: usize, class, now| {
        environments[number].spend_hashes(&hasher(class, number), 1, budget(20), now).await.unwrap()
    };
    for (class, now) in
        [(HashFor::Strangers, noon()), (HashFor::Strangers, noon().plus(SECOND)), (HashFor::Known, noon())]
    {
        let spent = join_all((0..50).map(|number| spend(number, class, now))).await;

        assert_eq!(spent.iter().filter(|spent| **spent).count(), 20, "{class:?} at {now}");
    }
}

/// How many of twenty hashes at once by these are computed, each in an environment of its own, with a budget of twenty.
async fn computed(db: &TestDynamoDb, hashers: impl Fn(usize) -> Hasher) -> usize {
    let environments: Vec<ThrottleTable> = (0..20).map(|_| db.calls()).collect();
    let spend =
        async |number: usize| environments[number].spend_hashes(&hashers(number), 1, budget(20), noon()).await.unwrap();
    join_all((0..20).map(spend)).await.into_iter().filter(|spent| *spent).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_takes_a_quarter_of_the_budget_from_wherever() {
    let db = TestDynamoDb::start();
    let of_one = |number: usize| hasher_at(HashFor::Known, &format!("10.0.{number}.1"), ADA);

    assert_eq!(computed(&db, of_one).await, 5);
    assert_eq!(computed(&db, |number| hasher(HashFor::Known, number)).await, 15, "others have the rest");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_network_takes_less_than_an_account_at_whichever_accounts() {
    for class in [HashFor::Links, HashFor::Known, HashFor::Strangers] {
        for (network, end) in [("203.0.113.", ""), ("2001:db8:1:", "::1")] {
            let db = TestDynamoDb::start();
            let from_one = |number: usize| {
                hasher_at(class, &format!("{network}{number}{end}"), &format!("user{number}@example.com"))
            };

            assert_eq!(computed(&db, from_one).await, 4, "{class:?} {network}");
            assert_eq!(computed(&db, |number| hasher(class, number)).await, 16, "others have the rest");
        }
    }
}

#[tokio::test]
async fn two_hashes_need_room_for_both() {
    let table = TestDynamoDb::start().calls();
    let spend = async |number, hashes| {
        table.spend_hashes(&hasher(HashFor::Known, number), hashes, budget(3), noon()).await.unwrap()
    };

    assert!(spend(0, 2).await, "the first one always has room");
    assert!(!spend(1, 2).await && spend(2, 1).await);
}

#[tokio::test]
async fn an_exhausted_hash_budget_is_not_asked_again_within_the_second() {
    for (class, hashers) in [(HashFor::Strangers, 100), (HashFor::Known, 1)] {
        let (table, writes): (_, Faults) = TestDynamoDb::start().through(ThrottleTable::new, "ThrottleTable");
        let spend = async |number: usize, now| {
            table.spend_hashes(&hasher(class, number % hashers), 1, budget(2), now).await.unwrap()
        };
        writes.plan(None);

        let mut spent = 0;
        for number in 0..100 {
            spent += usize::from(spend(number, noon()).await);
        }

        assert_eq!((spent, writes.calls()), (hashers.min(2), hashers.min(2)), "{class:?}");
        assert!(spend(0, noon().plus(SECOND)).await);
    }
}

/// So that a hash costs one write unit, whatever the budget is.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_takes_less_than_a_kilobyte() {
    let (db, most) = (TestDynamoDb::start(), 1_000);
    let table = db.calls();
    let spend =
        async |number| table.spend_hashes(&hasher(HashFor::Strangers, number), 1, budget(most), noon()).await.unwrap();

    let spent: Vec<bool> = stream::iter(0..1_000).map(spend).buffer_unordered(50).collect().await;

    assert!(spent.iter().all(|spent| *spent));
    let items = db.scan("ThrottleTable");
    assert!(items.len() == 1 && item_bytes(&items[0]) < 1_024, "{}", item_bytes(&items[0]));
}

// ---------------------------------------------------------------------------------------------------------------- mails

const PAUSE: Duration = MailLimit::OF_A_MAILBOX.pause.unwrap();

fn reader(address: &str) -> Correspondent {
    Correspondent::reader(&EmailAddress::parse(address).unwrap(), &salt())
}

async fn mail(db: &TestDynamoDb, address: &str, count: MailCount, now: Timestamp) -> bool {
    admission(db, &reader(address), count, &EmailRequestId::generate().to_string(), now).await != MailAdmission::Refused
}

async fn admission(
    db: &TestDynamoDb,
    whose: &Correspondent,
    count: MailCount,
    id: &str,
    now: Timestamp,
) -> MailAdmission {
    db.calls().admit_mail(whose, count, id, now).await.unwrap()
}

async fn reset(db: &TestDynamoDb, address: &str, now: Timestamp) -> bool {
    mail(db, address, MailCount::Resets, now).await
}

#[tokio::test]
async fn an_address_gets_one_mail_a_minute_and_five_an_hour() {
    let db = TestDynamoDb::start();
    for number in 0..MailLimit::OF_A_MAILBOX.mails {
        let now = noon().plus(PAUSE * number);
        assert!(reset(&db, ADA, now).await, "{number}");
        assert!(!reset(&db, ADA, now.plus(PAUSE - SECOND)).await, "within a minute of {number}");
    }

    assert!(!reset(&db, ADA, noon().plus(MailLimit::WINDOW - SECOND)).await, "the sixth");
    assert!(reset(&db, "bob@example.com", noon()).await, "to somebody else");
    assert!(reset(&db, ADA, noon().plus(MailLimit::WINDOW)).await, "an hour later");
}

#[tokio::test]
async fn mails_of_one_kind_are_not_in_the_way_of_another() {
    let db = TestDynamoDb::start();

    let kinds = [MailCount::Verifications, MailCount::WantedAddresses, MailCount::Resets, MailCount::Invitations];
    for kind in kinds {
        assert!(mail(&db, ADA, kind, noon()).await, "{kind:?}");
        assert!(!mail(&db, ADA, kind, noon()).await, "{kind:?}");
    }
}

#[tokio::test]
async fn somebody_may_invite_many_at_a_time_by_mail_and_no_more() {
    let (db, most) = (TestDynamoDb::start(), MailLimit::OF_A_SENDER.mails);
    let invite = |now| mail(&db, ADA, MailCount::InvitationsBySender, now);

    // Clocks of environments differ.
    let sent = join_all((0..most).map(|number| invite(noon().minus(SECOND * number / most)))).await;

    assert_eq!(sent, vec![true; sent.len()]);
    assert!(!invite(noon()).await && !invite(noon().plus(MailLimit::WINDOW - SECOND * 2)).await);
    assert!(invite(noon().plus(MailLimit::WINDOW)).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_ten_mails_at_once_one_is_sent() {
    let db = TestDynamoDb::start();

    let sent = join_all((0..10).map(|_| reset(&db, ADA, noon()))).await;

    assert_eq!(sent.iter().filter(|sent| **sent).count(), 1);
}

#[tokio::test]
async fn a_mail_that_is_tried_again_is_not_counted_again() {
    let db = TestDynamoDb::start();
    let again = async |now| admission(&db, &reader(ADA), MailCount::Resets, "again", now).await;
    for _ in 0..10 {
        assert_eq!(again(noon()).await, MailAdmission::Admitted);
    }

    assert!(reset(&db, ADA, noon().plus(PAUSE)).await);
    assert_eq!(again(noon().plus(PAUSE)).await, MailAdmission::Admitted, "also after another one was counted");
}

/// Each message comes twice, as when the first try of its mail fails, and once more after the last.
#[tokio::test]
async fn exactly_one_mail_of_a_limit_is_the_last_and_stays_so() {
    let (db, ada) = (TestDynamoDb::start(), Correspondent::person(&UserId::generate(), &salt()));
    let most = MailLimit::OF_NOTIFICATIONS.mails;
    let ask = async |id: u32, now| admission(&db, &ada, MailCount::Notifications, &id.to_string(), now).await;
    for id in 1..most {
        assert_eq!([ask(id, noon()).await, ask(id, noon()).await], [MailAdmission::Admitted; 2], "{id}");
    }

    assert_eq!([ask(most, noon()).await, ask(most, noon()).await], [MailAdmission::Last; 2]);
    assert_eq!([ask(most + 1, noon()).await, ask(1, noon()).await], [MailAdmission::Refused, MailAdmission::Admitted]);
    assert_eq!(ask(most, noon()).await, MailAdmission::Last);
    assert_eq!(ask(most + 1, noon().plus(MailLimit::WINDOW)).await, MailAdmission::Admitted, "an hour later");
}
