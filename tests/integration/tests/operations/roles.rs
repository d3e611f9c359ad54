//! What the roles in `template.yaml` allow to do with tables. That it is enough for what functions call is seen where they answer:
//! a test of a route ends if its function calls what its role doesn't allow.

use std::collections::{BTreeMap, BTreeSet};

use linklet_test_support::{Template, grants};
use serde_json::json;

/// What each function may do with which items: function, table or index, what the partition keys begin with (`*` where all may be
/// touched), actions. Who changes a role changes this, so that a wider one is seen.
const RIGHTS: &str = "
    account         AuditTable                          *              PutItem Query
    account         JobsTable                           HANDOVER#      PutItem
    account         NotificationsTable                  *              Query UpdateItem
    account         ThrottleTable                       GUESS#         BatchGetItem UpdateItem
    account         UsersTable                          ACCESS#        BatchGetItem ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem
    account         UsersTable                          INVITATION#    GetItem PutItem
    account         UsersTable                          INVITATIONS#   DeleteItem GetItem PutItem Query
    account         UsersTable                          KEY#           BatchGetItem DeleteItem PutItem UpdateItem
    account         UsersTable                          SLUG#          DeleteItem PutItem
    account         UsersTable                          USER#          GetItem
    account         UsersTable                          WS#            BatchGetItem ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem
    analytics       ClicksTable                         *              BatchWriteItem PutItem Query
    analytics       LinksTable                          HISTORY#       BatchWriteItem Query
    analytics       StatsTable                          *              BatchGetItem BatchWriteItem GetItem PutItem Query UpdateItem
    auth            AuditTable                          *              PutItem
    auth            JobsTable                           RECLAIM#       PutItem
    auth            ThrottleTable                       GUESS#         BatchGetItem UpdateItem
    auth            ThrottleTable                       HASHES#        BatchGetItem UpdateItem
    auth            UsersTable                          ACCESS#        BatchGetItem GetItem PutItem Query UpdateItem
    auth            UsersTable                          EMAIL#         DeleteItem GetItem PutItem
    auth            UsersTable                          INVITATION#    DeleteItem GetItem
    auth            UsersTable                          INVITATIONS#   DeleteItem GetItem
    auth            UsersTable                          KEEP#          DeleteItem GetItem
    auth            UsersTable                          RESET#         DeleteItem GetItem
    auth            UsersTable                          SLUG#          GetItem PutItem
    auth            UsersTable                          USER#          BatchGetItem GetItem PutItem UpdateItem
    auth            UsersTable                          VERIFICATION#  DeleteItem GetItem
    auth            UsersTable                          WS#            ConditionCheckItem PutItem UpdateItem
    delete          LinksTable                          EXTERNAL#      DeleteItem
    delete          LinksTable                          HISTORY#       PutItem
    delete          LinksTable                          LINK#          GetItem PutItem UpdateItem
    delete          LinksTable                          LOCK#          DeleteItem
    delete          LinksTable                          URL#           DeleteItem GetItem
    delete          LinksTable                          USES#          DeleteItem
    delete          ThrottleTable                       WORKSPACE#     UpdateItem
    delete          UsersTable                          ACCESS#        BatchGetItem
    delete          UsersTable                          KEY#           GetItem UpdateItem
    jobs            AuditTable                          *              PutItem
    jobs            JobsTable                           FORGET#        DeleteItem GetItem PutItem UpdateItem
    jobs            JobsTable                           HANDOVER#      BatchWriteItem DeleteItem GetItem PutItem Query UpdateItem
    jobs            JobsTable                           RECLAIM#       DeleteItem GetItem PutItem UpdateItem
    jobs            JobsTable                           WS#            BatchWriteItem GetItem PutItem Query UpdateItem
    jobs            LinksTable                          CLEANUP#       DeleteItem
    jobs            LinksTable                          EXTERNAL#      DeleteItem
    jobs            LinksTable                          HISTORY#       PutItem
    jobs            LinksTable                          LINK#          GetItem PutItem UpdateItem
    jobs            LinksTable                          LOCK#          DeleteItem
    jobs            LinksTable                          URL#           DeleteItem GetItem PutItem
    jobs            LinksTable                          USES#          DeleteItem
    jobs            LinksTable/index/by-workspace       *              Query
    jobs            LinksTable/index/by-workspace-lean  *              Query
    jobs            NotificationsTable                  *              BatchWriteItem Query
    jobs            StatsTable                          OVERVIEW#      BatchWriteItem Query
    jobs            StatsTable                          WS#            Query
    jobs            ThrottleTable                       GUESS#         BatchWriteItem Query
    jobs            UsersTable                          ACCESS#        BatchGetItem BatchWriteItem Query UpdateItem
    jobs            UsersTable                          INVITATIONS#   BatchWriteItem DeleteItem Query
    jobs            UsersTable                          KEY#           BatchWriteItem DeleteItem UpdateItem
    jobs            UsersTable                          SLUG#          DeleteItem
    jobs            UsersTable                          WS#            BatchGetItem BatchWriteItem ConditionCheckItem DeleteItem GetItem Query UpdateItem
    jobs            WatchTable                          CREATOR#       DeleteItem GetItem UpdateItem
    jobs            WatchTable                          TARGET#        BatchGetItem DeleteItem GetItem UpdateItem
    jobs            WatchTable                          WS#            DeleteItem GetItem UpdateItem
    jobs            WatchTable/index/by-workspace       *              Query
    jobs-api        JobsTable                           WS#            GetItem PutItem Query UpdateItem
    jobs-api        LinksTable                          EXTERNAL#      GetItem
    jobs-api        LinksTable                          LINK#          GetItem
    jobs-api        LinksTable/index/by-workspace       *              Query
    jobs-api        LinksTable/index/by-workspace-lean  *              Query
    jobs-api        ThrottleTable                       WORKSPACE#     UpdateItem
    jobs-api        UsersTable                          ACCESS#        BatchGetItem
    jobs-api        UsersTable                          KEY#           GetItem UpdateItem
    leave           AuditTable                          *              PutItem
    leave           AuditTable                          USER#          Query
    leave           JobsTable                           FORGET#        PutItem
    leave           JobsTable                           HANDOVER#      PutItem
    leave           JobsTable                           WS#            DeleteItem GetItem PutItem Query UpdateItem
    leave           LinksTable/index/by-workspace       *              Query
    leave           NotificationsTable                  *              Query
    leave           ThrottleTable                       GUESS#         BatchGetItem UpdateItem
    leave           ThrottleTable                       HASHES#        BatchGetItem UpdateItem
    leave           UsersTable                          ACCESS#        BatchGetItem ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem
    leave           UsersTable                          EMAIL#         DeleteItem
    leave           UsersTable                          INVITATIONS#   DeleteItem Query
    leave           UsersTable                          KEY#           BatchGetItem DeleteItem
    leave           UsersTable                          USER#          BatchGetItem DeleteItem GetItem
    leave           UsersTable                          WS#            BatchGetItem ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem
    leave           WatchTable                          TARGET#        BatchGetItem
    leave           WatchTable/index/by-workspace       *              Query
    list            LinksTable                          EXTERNAL#      BatchGetItem GetItem
    list            LinksTable                          HISTORY#       Query
    list            LinksTable                          LINK#          BatchGetItem GetItem
    list            LinksTable                          USES#          BatchGetItem GetItem
    list            LinksTable/index/by-workspace       *              Query
    list            LinksTable/index/by-workspace-lean  *              Query
    list            StatsTable                          *              BatchGetItem Query
    list            ThrottleTable                       WORKSPACE#     UpdateItem
    list            UsersTable                          ACCESS#        BatchGetItem
    list            UsersTable                          KEY#           GetItem UpdateItem
    list            WatchTable                          *              GetItem Query
    notify          AuditTable                          *              PutItem
    notify          NotificationsTable                  *              UpdateItem
    notify          ThrottleTable                       MAIL#          UpdateItem
    notify          UsersTable                          ACCESS#        BatchGetItem UpdateItem
    notify          UsersTable                          EMAIL#         GetItem
    notify          UsersTable                          INVITATION#    PutItem
    notify          UsersTable                          INVITATIONS#   ConditionCheckItem GetItem UpdateItem
    notify          UsersTable                          KEEP#          PutItem
    notify          UsersTable                          RESET#         PutItem
    notify          UsersTable                          VERIFICATION#  PutItem
    overview        LinksTable                          LINK#          BatchGetItem
    overview        LinksTable/index/by-workspace-lean  *              Query
    overview        StatsTable                          OVERVIEW#      GetItem PutItem UpdateItem
    overview        StatsTable                          STATS#         BatchGetItem Query
    overview        StatsTable                          WS#            Query
    overview        ThrottleTable                       WORKSPACE#     UpdateItem
    overview        UsersTable                          ACCESS#        BatchGetItem
    overview        UsersTable                          KEY#           GetItem UpdateItem
    overview        WatchTable                          TARGET#        BatchGetItem
    overview        WatchTable                          WATCHER#       Query
    overview        WatchTable/index/by-workspace       *              Query
    redirect        ClicksTable                         *              PutItem
    redirect        LinksTable                          FOLD#          GetItem
    redirect        LinksTable                          LINK#          GetItem
    redirect        LinksTable                          USES#          UpdateItem
    redirect        ThrottleTable                       IP#            UpdateItem
    relay           LinksTable                          CLEANUP#       UpdateItem
    relay           LinksTable                          EXPIRY#        PutItem
    relay           LinksTable                          EXTERNAL#      DeleteItem
    relay           LinksTable                          LINK#          GetItem PutItem UpdateItem
    relay           LinksTable                          LOCK#          DeleteItem
    relay           LinksTable                          USES#          ConditionCheckItem DeleteItem
    shorten         LinksTable                          EXTERNAL#      GetItem PutItem
    shorten         LinksTable                          FOLD#          GetItem PutItem
    shorten         LinksTable                          IDEM#          GetItem PutItem
    shorten         LinksTable                          LINK#          DeleteItem GetItem PutItem
    shorten         LinksTable                          LOCK#          PutItem
    shorten         LinksTable                          URL#           GetItem PutItem
    shorten         LinksTable                          USES#          UpdateItem
    shorten         ThrottleTable                       HASHES#        UpdateItem
    shorten         ThrottleTable                       IP#            UpdateItem
    shorten         ThrottleTable                       PERSON#        UpdateItem
    shorten         ThrottleTable                       WORKSPACE#     UpdateItem
    shorten         UsersTable                          ACCESS#        BatchGetItem
    shorten         UsersTable                          KEY#           GetItem UpdateItem
    shorten         UsersTable                          WS#            GetItem
    shorten         WatchTable                          *              GetItem
    stats           ClicksTable                         *              Query
    stats           LinksTable                          CLEANUP#       GetItem
    stats           LinksTable                          FOLD#          GetItem
    stats           LinksTable                          LINK#          GetItem
    stats           StatsTable                          *              BatchGetItem Query
    stats           ThrottleTable                       IP#            UpdateItem
    stats           ThrottleTable                       WORKSPACE#     UpdateItem
    stats           UsersTable                          ACCESS#        BatchGetItem
    stats           UsersTable                          KEY#           GetItem UpdateItem
    unlock          ClicksTable                         *              PutItem
    unlock          LinksTable                          FOLD#          GetItem
    unlock          LinksTable                          LINK#          GetItem
    unlock          LinksTable                          LOCK#          GetItem
    unlock          LinksTable                          USES#          UpdateItem
    unlock          ThrottleTable                       GUESS#         BatchGetItem UpdateItem
    unlock          ThrottleTable                       HASHES#        BatchGetItem UpdateItem
    update          LinksTable                          EXTERNAL#      DeleteItem GetItem PutItem
    update          LinksTable                          HISTORY#       PutItem
    update          LinksTable                          LINK#          GetItem UpdateItem
    update          LinksTable                          LOCK#          DeleteItem PutItem
    update          LinksTable                          URL#           DeleteItem GetItem PutItem
    update          LinksTable                          USES#          BatchGetItem DeleteItem UpdateItem
    update          StatsTable                          *              BatchGetItem
    update          ThrottleTable                       HASHES#        UpdateItem
    update          ThrottleTable                       WORKSPACE#     UpdateItem
    update          UsersTable                          ACCESS#        BatchGetItem
    update          UsersTable                          KEY#           GetItem UpdateItem
    update          UsersTable                          WS#            GetItem
    update          WatchTable                          CREATOR#       GetItem
    update          WatchTable                          TARGET#        GetItem
    update          WatchTable                          WS#            GetItem
    watch           AuditTable                          *              PutItem
    watch           UsersTable                          ACCESS#        BatchGetItem
    watch           UsersTable                          KEY#           GetItem UpdateItem
    watch           UsersTable                          WS#            GetItem
    watch           WatchTable                          *              DeleteItem GetItem PutItem Query UpdateItem
    watch           WatchTable                          TARGET#        BatchGetItem
    watch           WatchTable/index/by-host            *              Query
    watch           WatchTable/index/by-workspace       *              Query
    watch-check     WatchTable                          *              GetItem PutItem Query UpdateItem
    watch-links     UsersTable                          WS#            GetItem
    watch-links     WatchTable                          *              DeleteItem GetItem PutItem UpdateItem
    watch-tick      WatchTable/index/by-workspace       *              Scan
";

#[test]
fn every_function_may_touch_its_own_keys_only() {
    let mut rights = BTreeMap::<_, BTreeSet<&str>>::new();
    for (function, grants) in grants() {
        for grant in grants {
            let keys = grant.keys.clone().unwrap_or_else(|| vec!["*".to_owned()]);
            for (table, key) in grant.tables.iter().flat_map(|table| keys.iter().map(move |key| (table, key.clone()))) {
                let actions = rights.entry((function, table, key)).or_default();
                actions.extend(grant.actions.iter().map(String::as_str));
            }
        }
    }
    let row = |((function, table, key), actions): ((&String, &String, String), BTreeSet<&str>)| {
        format!("{function} {table} {key} {}", Vec::from_iter(actions).join(" "))
    };

    let expected: Vec<_> = RIGHTS.lines().map(|row| Vec::from_iter(row.split_whitespace()).join(" ")).collect();
    assert_eq!(rights.into_iter().map(row).collect::<Vec<_>>(), expected[1..]);
}

/// Who could touch all of them could read every password hash, and forget every guess.
#[test]
fn nobody_may_touch_all_accounts_or_all_counts() {
    for (function, grants) in grants() {
        for grant in grants.iter().filter(|grant| grant.keys.is_none()) {
            let of_people = grant.tables.iter().any(|table| ["UsersTable", "ThrottleTable"].contains(&table.as_str()));
            assert!(!of_people, "{function}: {grant:?}");
        }
    }
}

/// Who could change an entry could hide what they have done. Functions only put entries and read them; TTL ends them.
#[test]
fn nobody_may_change_or_delete_an_audit_log_entry() {
    const ALLOWED: [&str; 2] = ["dynamodb:PutItem", "dynamodb:Query"];
    let template = Template::load();
    let mut looked_at = 0;
    for (role, _) in template.of_type("AWS::IAM::Role") {
        for statement in template.statements(role) {
            // `*` would be all tables, this one included.
            let resource = statement["Resource"].to_string();
            let is_meant = resource.contains("AuditTable") || resource.contains(r#""*""#);
            let actions = statement["Action"].as_array().cloned().unwrap_or_else(|| vec![statement["Action"].clone()]);
            let on_tables = actions
                .iter()
                .filter_map(|action| action.as_str())
                .filter(|action| is_meant && (action.starts_with("dynamodb:") || action.starts_with('*')));
            for action in on_tables {
                looked_at += 1;
                assert!(ALLOWED.contains(&action), "{role} may call {action} on the audit log");
            }
        }
    }
    assert!(looked_at > 0);
}

/// A condition on all keys of a call is also met by a call that has none, such as a scan.
#[test]
fn a_statement_about_keys_refuses_calls_without_keys() {
    let template = Template::load();
    let mut looked_at = 0;
    for (role, _) in template.of_type("AWS::IAM::Role") {
        for statement in template.statements(role) {
            let condition = &statement["Condition"];
            if condition.pointer("/ForAllValues:StringLike/dynamodb:LeadingKeys").is_some() {
                looked_at += 1;
                assert_eq!(condition["Null"]["dynamodb:LeadingKeys"], "false", "{role}: {statement}");
            }
        }
    }
    assert!(looked_at > 0);
}

/// Whoever else could tell of bounces might end anybody's mails.
#[test]
fn only_ses_tells_of_bounces_and_only_where_mail_is_sent() {
    let template = Template::load();
    for id in ["Topic", "TopicPolicy", "", "Subscription"] {
        assert_eq!(template.condition(&format!("MailFeedback{id}")), Some("SendsMail"), "{id}");
    }
    let allowed = |id: &str| {
        let statements = template.properties(id)["PolicyDocument"]["Statement"].as_array().unwrap().iter();
        let statements = statements.map(|statement| statement.get(1).unwrap_or(statement));
        let allowed: Vec<_> = statements.filter(|statement| statement["Effect"] == "Allow").collect();
        assert_eq!(allowed.len(), 1, "{id}");
        allowed[0]
    };

    let publish = allowed("MailFeedbackTopicPolicy");
    assert_eq!(publish["Principal"], json!({"Service": "ses.amazonaws.com"}));
    let condition = publish["Condition"]["StringEquals"].as_object().unwrap();
    assert_eq!(condition.keys().collect::<Vec<_>>(), ["aws:SourceAccount", "aws:SourceArn"]);
    assert!(publish["Condition"].to_string().contains(":configuration-set/${MailConfiguration}"), "{publish}");
    let send = allowed("NotifyQueuePolicy");
    assert_eq!(send["Principal"], json!({"Service": "sns.amazonaws.com"}));
    assert!(send["Condition"]["ArnEquals"]["aws:SourceArn"].to_string().contains("MailFeedbackTopic"), "{send}");
    assert_eq!(template.properties("MailFeedbackSubscription")["RawMessageDelivery"], true);
    // SES first tells a topic that it may publish there, which is no event.
    assert!(template.prerequisites("MailFeedbackSubscription").contains(&"MailFeedback"));
}
