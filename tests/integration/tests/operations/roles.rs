//! What the roles in `template.yaml` allow to do with tables. That it is enough for what functions call is seen where they answer:
//! a test of a route ends if its function calls what its role doesn't allow.

use std::collections::{BTreeMap, BTreeSet};

use linklet_test_support::{Template, grants};
use serde_json::json;

/// What may be done with which items, and by whom: table or index, what the partition keys begin with (`*` where all may be touched),
/// actions, functions. Who changes a role changes this, so that a wider one is seen.
const RIGHTS: &str = "
    AuditTable                        *              PutItem: auth jobs leave notify operate watch
    AuditTable                        *              PutItem Query: account
    AuditTable                        USER#          Query: leave
    ClicksTable                       *              BatchGetItem PutItem: shorten
    ClicksTable                       *              BatchWriteItem PutItem Query: analytics
    ClicksTable                       *              BatchWriteItem Query: jobs
    ClicksTable                       *              PutItem: redirect unlock
    ClicksTable                       *              Query: operate stats
    JobsTable                         FORGET#        DeleteItem GetItem PutItem UpdateItem: jobs
    JobsTable                         FORGET#        DeleteItem: clock
    JobsTable                         FORGET#        PutItem: leave
    JobsTable                         HANDOVER#      BatchWriteItem DeleteItem GetItem PutItem Query UpdateItem: jobs
    JobsTable                         HANDOVER#      DeleteItem: clock
    JobsTable                         HANDOVER#      PutItem: account auth leave operate
    JobsTable                         PURGE#         DeleteItem GetItem PutItem UpdateItem: jobs
    JobsTable                         PURGE#         DeleteItem: clock
    JobsTable                         PURGE#         PutItem: analytics
    JobsTable                         RECLAIM#       DeleteItem GetItem PutItem UpdateItem: jobs
    JobsTable                         RECLAIM#       DeleteItem: clock
    JobsTable                         RECLAIM#       PutItem: auth
    JobsTable                         WS#            BatchWriteItem GetItem PutItem Query UpdateItem: jobs
    JobsTable                         WS#            DeleteItem GetItem PutItem Query UpdateItem: leave
    JobsTable                         WS#            DeleteItem: clock
    JobsTable                         WS#            GetItem PutItem Query UpdateItem: jobs-api
    JobsTable/index/by-due            *              Query: clock
    LinksTable                        *              Scan: operate
    LinksTable                        BLOCK#         DeleteItem PutItem Query: operate
    LinksTable                        BLOCK#         Query: shorten update
    LinksTable                        CLEANUP#       DeleteItem: jobs
    LinksTable                        CLEANUP#       GetItem: stats
    LinksTable                        CLEANUP#       UpdateItem: relay
    LinksTable                        EXPIRY#        PutItem: relay
    LinksTable                        EXTERNAL#      BatchGetItem GetItem: list
    LinksTable                        EXTERNAL#      DeleteItem: jobs relay
    LinksTable                        EXTERNAL#      DeleteItem GetItem: delete
    LinksTable                        EXTERNAL#      DeleteItem GetItem PutItem: update
    LinksTable                        EXTERNAL#      GetItem: jobs-api stats
    LinksTable                        EXTERNAL#      GetItem PutItem: shorten
    LinksTable                        FOLD#          GetItem: account operate redirect stats unlock
    LinksTable                        FOLD#          GetItem PutItem: shorten update
    LinksTable                        HISTORY#       BatchWriteItem Query: analytics
    LinksTable                        HISTORY#       PutItem: delete jobs update
    LinksTable                        HISTORY#       Query: list
    LinksTable                        IDEM#          GetItem PutItem: shorten
    LinksTable                        LINK#          BatchGetItem: overview
    LinksTable                        LINK#          BatchGetItem GetItem: list
    LinksTable                        LINK#          GetItem: account jobs-api redirect stats unlock
    LinksTable                        LINK#          GetItem PutItem UpdateItem: delete jobs relay
    LinksTable                        LINK#          DeleteItem GetItem PutItem UpdateItem: shorten update
    LinksTable                        LINK#          GetItem UpdateItem: operate
    LinksTable                        LOCK#          DeleteItem: delete jobs relay
    LinksTable                        LOCK#          DeleteItem PutItem: update
    LinksTable                        LOCK#          GetItem: unlock
    LinksTable                        LOCK#          PutItem: shorten
    LinksTable                        URL#           DeleteItem GetItem: delete
    LinksTable                        URL#           DeleteItem GetItem PutItem: jobs update
    LinksTable                        URL#           GetItem PutItem: shorten
    LinksTable                        USES#          BatchGetItem DeleteItem UpdateItem: update
    LinksTable                        USES#          BatchGetItem GetItem: list
    LinksTable                        USES#          ConditionCheckItem DeleteItem: relay
    LinksTable                        USES#          DeleteItem: delete jobs
    LinksTable                        USES#          UpdateItem: redirect shorten unlock
    LinksTable/index/by-workspace     *              Query: jobs jobs-api leave list
    LinksTable/index/by-workspace-lean *              Query: jobs jobs-api list operate overview reports stats
    NotificationsTable                *              BatchWriteItem Query: jobs
    NotificationsTable                *              Query: leave
    NotificationsTable                *              Query UpdateItem: account
    NotificationsTable                *              UpdateItem: notify
    StatsTable                        *              BatchGetItem: delete update
    StatsTable                        *              BatchGetItem BatchWriteItem GetItem PutItem Query UpdateItem: analytics operate
    StatsTable                        *              BatchGetItem Query: list stats
    StatsTable                        OVERVIEW#      BatchWriteItem Query: jobs
    StatsTable                        OVERVIEW#      GetItem PutItem UpdateItem: overview
    StatsTable                        SHARED#        BatchWriteItem Query: jobs
    StatsTable                        SHARED#        GetItem PutItem: overview stats
    StatsTable                        SHARES#        BatchWriteItem Query: jobs
    StatsTable                        SHARES#        DeleteItem GetItem PutItem Query: account
    StatsTable                        SHARES#        GetItem: overview stats
    StatsTable                        STATS#         BatchGetItem Query: overview
    StatsTable                        WS#            Query: jobs overview reports
    ThrottleTable                     GUESS#         BatchGetItem UpdateItem: account auth leave overview stats unlock
    ThrottleTable                     GUESS#         BatchWriteItem Query: jobs
    ThrottleTable                     HASHES#        BatchGetItem UpdateItem: auth leave unlock
    ThrottleTable                     HASHES#        UpdateItem: account overview shorten stats update
    ThrottleTable                     IP#            UpdateItem: overview redirect shorten stats update
    ThrottleTable                     MAIL#          UpdateItem: notify
    ThrottleTable                     PERSON#        UpdateItem: resolve shorten update
    ThrottleTable                     SHARE#         UpdateItem: overview stats
    ThrottleTable                     WORKSPACE#     UpdateItem: delete jobs-api list overview shorten stats update
    UsersTable                        ACCESS#        BatchGetItem: delete jobs-api list overview reports resolve shorten stats update watch
    UsersTable                        ACCESS#        BatchGetItem BatchWriteItem Query UpdateItem: jobs
    UsersTable                        ACCESS#        BatchGetItem ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem: account auth leave
    UsersTable                        ACCESS#        BatchGetItem UpdateItem: notify
    UsersTable                        ACCESS#        DeleteItem GetItem PutItem Query UpdateItem: operate
    UsersTable                        EMAIL#         DeleteItem GetItem: leave
    UsersTable                        EMAIL#         DeleteItem GetItem PutItem: auth
    UsersTable                        EMAIL#         GetItem: notify
    UsersTable                        EMAIL#         GetItem UpdateItem: operate
    UsersTable                        IDENTITY#      DeleteItem: jobs
    UsersTable                        IDENTITY#      DeleteItem GetItem PutItem: auth
    UsersTable                        INVITATION#    DeleteItem GetItem: auth
    UsersTable                        INVITATION#    GetItem PutItem: account
    UsersTable                        INVITATION#    PutItem: notify operate
    UsersTable                        INVITATIONS#   BatchWriteItem DeleteItem Query: jobs
    UsersTable                        INVITATIONS#   ConditionCheckItem GetItem UpdateItem: notify
    UsersTable                        INVITATIONS#   DeleteItem GetItem Query: auth
    UsersTable                        INVITATIONS#   DeleteItem GetItem PutItem Query: account
    UsersTable                        INVITATIONS#   DeleteItem Query: leave operate
    UsersTable                        KEEP#          DeleteItem GetItem: auth
    UsersTable                        KEEP#          PutItem: notify
    UsersTable                        KEY#           BatchGetItem DeleteItem: auth leave operate
    UsersTable                        KEY#           BatchGetItem DeleteItem PutItem UpdateItem: account
    UsersTable                        KEY#           BatchWriteItem DeleteItem UpdateItem: jobs
    UsersTable                        KEY#           GetItem UpdateItem: delete jobs-api list overview resolve shorten stats update watch
    UsersTable                        LOGO#          DeleteItem: jobs
    UsersTable                        LOGO#          DeleteItem PutItem: account
    UsersTable                        LOGO#          GetItem: redirect
    UsersTable                        PUBLIC#        DeleteItem: jobs
    UsersTable                        PUBLIC#        GetItem: redirect stats unlock
    UsersTable                        PUBLIC#        PutItem: account auth
    UsersTable                        REPORTS#       DeleteItem GetItem PutItem Query: account
    UsersTable                        REPORTS#       DeleteItem Query: reports
    UsersTable                        REPORTS#       UpdateItem: notify
    UsersTable                        RESET#         DeleteItem GetItem: auth
    UsersTable                        RESET#         PutItem: notify operate
    UsersTable                        SLUG#          DeleteItem: jobs
    UsersTable                        SLUG#          DeleteItem PutItem: account
    UsersTable                        SLUG#          GetItem: operate
    UsersTable                        SLUG#          GetItem PutItem: auth
    UsersTable                        USER#          BatchGetItem DeleteItem GetItem: leave
    UsersTable                        USER#          BatchGetItem ConditionCheckItem GetItem PutItem UpdateItem: auth
    UsersTable                        USER#          GetItem: account
    UsersTable                        USER#          GetItem UpdateItem: operate
    UsersTable                        VERIFICATION#  DeleteItem GetItem: auth
    UsersTable                        VERIFICATION#  PutItem: notify
    UsersTable                        WS#            BatchGetItem BatchWriteItem ConditionCheckItem DeleteItem GetItem Query UpdateItem: jobs
    UsersTable                        WS#            BatchGetItem ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem: account leave
    UsersTable                        WS#            BatchGetItem ConditionCheckItem DeleteItem GetItem Query UpdateItem: operate
    UsersTable                        WS#            ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem: auth
    UsersTable                        WS#            GetItem: reports shorten update watch watch-links
    UsersTable                        WS#            GetItem Query: overview
    WatchTable                        *              BatchGetItem DeleteItem GetItem PutItem Query UpdateItem: watch
    WatchTable                        *              DeleteItem GetItem PutItem UpdateItem: watch-links
    WatchTable                        *              GetItem: shorten
    WatchTable                        *              GetItem PutItem Query UpdateItem: watch-check
    WatchTable                        *              GetItem Query: list
    WatchTable                        CREATOR#       DeleteItem GetItem UpdateItem: jobs
    WatchTable                        CREATOR#       GetItem: update
    WatchTable                        TARGET#        BatchGetItem: leave overview
    WatchTable                        TARGET#        BatchGetItem DeleteItem GetItem UpdateItem: jobs
    WatchTable                        TARGET#        GetItem: update
    WatchTable                        WATCHER#       Query: overview
    WatchTable                        WS#            DeleteItem GetItem UpdateItem: jobs
    WatchTable                        WS#            GetItem: update
    WatchTable/index/by-host          *              Query: watch
    WatchTable/index/by-workspace     *              Query: jobs leave overview watch
    WatchTable/index/by-workspace     *              Scan: clock
";

#[test]
fn every_function_may_touch_its_own_keys_only() {
    let mut rights = BTreeMap::<_, BTreeSet<&str>>::new();
    for (function, grants) in grants() {
        for grant in grants {
            let keys = grant.keys.clone().unwrap_or_else(|| vec!["*".to_owned()]);
            for (table, key) in grant.tables.iter().flat_map(|table| keys.iter().map(move |key| (table, key.clone()))) {
                let actions = rights.entry((table, key, function)).or_default();
                actions.extend(grant.actions.iter().map(String::as_str));
            }
        }
    }
    let mut functions = BTreeMap::<_, Vec<&str>>::new();
    for ((table, key, function), actions) in rights {
        let row = format!("{table} {key} {}", Vec::from_iter(actions).join(" "));
        functions.entry(row).or_default().push(function);
    }
    let rows = functions.into_iter().map(|(row, functions)| format!("{row}: {}", functions.join(" ")));

    let expected = RIGHTS.lines().skip(1).map(|row| Vec::from_iter(row.split_whitespace()).join(" "));
    assert_eq!(rows.collect::<BTreeSet<_>>(), expected.collect::<BTreeSet<_>>());
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

/// No emulator knows whether DynamoDB asks for the attributes of a transaction or of returned items, so a parameter takes the condition away.
#[test]
fn attributes_of_a_statement_are_named_only_while_the_parameter_says_so() {
    let template = Template::load();
    let mut looked_at = 0;
    for (role, _) in template.of_type("AWS::IAM::Role") {
        for statement in template.statements(role) {
            let condition = &statement.get(1).unwrap_or(statement)["Condition"];
            if condition.to_string().contains("dynamodb:Attributes") {
                looked_at += 1;
                let (named, required) =
                    (&condition["ForAllValues:StringEquals"], &condition["Null"]["dynamodb:Attributes"]);
                let expected = (&json!("NamesAttributes"), &json!("AWS::NoValue"));
                assert_eq!((&named[0], &named[2]), expected, "{role}: {statement}");
                assert_eq!(*required, json!(["NamesAttributes", "false", "AWS::NoValue"]), "{role}: {statement}");
            }
        }
    }
    assert_eq!(looked_at, 3 + 8);
    assert_eq!(template.conditions()["NamesAttributes"], json!(["IsOnAws", ["AttributeConditions", "on"]]));
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
