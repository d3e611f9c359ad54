use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use linklet_canary::Canary;
use linklet_domain::Concurrency;
use linklet_notify::CLAIMED_FOR;
use linklet_test_support::{Contract, Template};
use serde_json::{Value, json};

use super::{alarms, of_conditions};

/// The functions with an alias, which are deployed gradually.
fn versioned(template: &Template) -> BTreeMap<String, Value> {
    template.functions().into_iter().filter(|(_, function)| function.get("AutoPublishAlias").is_some()).collect()
}

/// The texts anywhere in a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().flat_map(texts).collect(),
        Value::Object(all) => all.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// What leaves AWS costs by its size, whoever asks for it.
#[test]
fn files_for_anybody_leave_with_20_megabytes_a_second_at_most() {
    let template = Template::load();
    let rapidoc = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../functions/web/assets/rapidoc-min.js");
    let documents = fs::metadata(rapidoc).unwrap().len();
    let limits = &template.of_type("AWS::ApiGatewayV2::Stage").next().unwrap().1["RouteSettings"];

    for route in Contract::load().routes().into_iter().filter(|route| route.function == "web") {
        let size = match route.path.as_str() {
            // Small, and whoever keeps others from the page keeps them from signing in.
            "/" | "/health" | "/app" => continue,
            "/app/{version}/{file}" => linklet_web::largest_file() as u64,
            _ => documents,
        };
        let rate = limits[template.route_key("GET", &route.path)]["ThrottlingRateLimit"].as_u64().unwrap_or(u64::MAX);
        assert!(rate.saturating_mul(size) <= 20_000_000, "{route:?}");
    }
}

/// API Gateway takes ten calls a second, and the stage deploys the routes that are there.
#[test]
fn the_stage_comes_after_all_routes_and_few_are_made_at_once() {
    let template = Template::load();
    let (stage, _) = template.of_type("AWS::ApiGatewayV2::Stage").next().unwrap();
    let mut left: BTreeSet<_> = template.of_type("AWS::ApiGatewayV2::Route").map(|(route, _)| route).collect();
    let mut group = template.prerequisites(stage);
    assert!(left.len() <= 80, "{} routes", left.len());

    while let Some(first) = group.first() {
        assert!(group.len() <= 10, "{group:?}");
        let before = template.prerequisites(first);
        for route in group {
            assert!(left.remove(route), "{route}");
            assert_eq!(template.prerequisites(route), before, "{route}");
        }
        group = before;
    }

    assert!(left.is_empty(), "the stage doesn't wait for {left:?}");
}

#[test]
fn the_access_log_has_nothing_that_a_client_writes() {
    let settings = &Template::load().of_type("AWS::ApiGatewayV2::Stage").next().unwrap().1["AccessLogSettings"];
    let format = settings[1]["Format"].as_str().unwrap();

    let line: BTreeMap<String, String> = serde_json::from_str(format).unwrap();
    assert_eq!(line["route"], "$context.routeKey");
    for variable in line.values() {
        let named_by_the_client = ["path", "httpMethod", "identity", "domainName", "authorizer", "protocol"];
        let mut named = named_by_the_client.iter().map(|name| format!("$context.{name}"));
        assert!(!named.any(|name| variable.starts_with(&name)), "{variable}");
    }
}

#[test]
fn every_function_writes_metrics_only_with_full_monitoring() {
    for (id, function) in Template::load().functions() {
        let expected = Some(&json!(["IsFullyMonitored", "AWS::StackName", ""]));
        assert_eq!(function.pointer("/Environment/Variables/METRICS_NAMESPACE"), expected, "{id}");
    }
}

#[test]
fn lambda_logs_only_failures_unless_the_log_level_asks_for_more() {
    let template = Template::load();

    assert_eq!(template.conditions()["IsVerbose"], json!([["LogLevel", "debug"], ["LogLevel", "trace"]]));
    for (id, function) in template.functions() {
        let logs = format!("{}Logs", id.trim_end_matches("Function"));
        let expected = json!({
            "LogFormat": "JSON",
            "ApplicationLogLevel": "TRACE",
            "SystemLogLevel": ["IsVerbose", "INFO", "WARN"],
            "LogGroup": logs,
        });
        assert_eq!(function["LoggingConfig"], expected, "{id}");
    }
}

/// Otherwise a new value would reach the function, but not the version that serves.
#[test]
fn a_version_is_published_when_a_parameter_of_its_function_changes() {
    let template = Template::load();
    let functions = versioned(template);
    assert_eq!(functions.keys().collect::<Vec<_>>(), ["RedirectFunction", "ShortenFunction"]);

    for (id, function) in functions {
        assert_eq!(function["AutoPublishAliasAllProperties"], true, "{id}");
        let description = texts(&function["VersionDescription"]);
        let mut settings = function.clone();
        for other in ["DeploymentPreference", "VersionDescription"] {
            settings.as_object_mut().unwrap().remove(other);
        }
        let says = |parameter: &str| {
            let mention = format!("${{{parameter}}}");
            description.iter().any(|text| *text == parameter || text.contains(&mention))
        };
        let parameters = |value| texts(value).into_iter().filter(|text| template.parameters().contains_key(*text));
        for parameter in parameters(&settings) {
            assert!(says(parameter), "{id}: {parameter}");
        }
        for condition in texts(&settings) {
            let Some(definition) = template.conditions().get(condition) else { continue };
            assert!(description.contains(&condition) || parameters(definition).all(says), "{id}: {condition}");
        }
    }
}

#[test]
fn the_api_calls_the_alias_of_a_function_that_has_one() {
    let template = Template::load();
    let integrations = template.of_type("AWS::ApiGatewayV2::Integration").map(|(_, each)| &each["IntegrationUri"]);
    let permissions = template.of_type("AWS::Lambda::Permission").map(|(_, each)| &each["FunctionName"]);
    let called: Vec<_> = integrations.chain(permissions).filter_map(Value::as_str).collect();

    for id in versioned(template).into_keys() {
        let of_function: Vec<_> = called.iter().filter(|target| target.split('.').next() == Some(&id)).collect();
        assert_eq!(of_function, [&format!("{id}.Alias"), &format!("{id}.Alias")]);
    }
}

#[test]
fn every_way_to_deploy_is_known_as_gradual_or_not() {
    let template = Template::load();
    let ways = &template.parameters()["Deployment"]["AllowedValues"];

    for way in texts(ways) {
        let is_gradual = if way == "AllAtOnce" { "false" } else { "true" };
        assert_eq!(template.mappings()["Deployments"][way]["IsGradual"], is_gradual, "{way}");
    }
}

#[test]
fn a_gradual_deployment_is_rolled_back_by_alarms_of_this_template() {
    let template = Template::load();
    assert_eq!(template.conditions()["IsGradual"], json!([["Deployment", "AllAtOnce"]]));
    assert_eq!(template.conditions()["HasDeploymentAlarms"], json!(["IsFullyMonitored", "IsGradual"]));

    for (id, function) in versioned(template) {
        let alarms = &function["DeploymentPreference"]["Alarms"];
        assert_eq!((&alarms[0], &alarms[2]), (&json!("HasDeploymentAlarms"), &json!([])), "{id}");
        let watching = texts(&alarms[1]);
        assert!(watching.contains(&"ApiErrorRateAlarm"), "{id}");
        for alarm in watching {
            assert_eq!(template.condition(alarm), Some("HasDeploymentAlarms"), "{id}: {alarm}");
        }
    }
}

/// It lets checks reach what only this account can reach.
#[test]
fn no_deployed_check_reaches_anything_but_the_internet() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["template.yaml", "samconfig.toml", "Makefile"] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        assert!(!text.contains("LOOPBACK"), "{file}");
    }
    let template = Template::load();
    for id in ["WatchCheckFunction", "ResolveFunction"] {
        assert_eq!(template.functions()[id].get("VpcConfig"), None, "{id}");
    }
}

/// A link or a monitored URL that leads to a short link would be followed without end, or be a click at each check.
#[test]
fn who_takes_or_fetches_urls_knows_the_address_of_the_api() {
    let functions = Template::load().functions();

    for id in ["ShortenFunction", "WatchFunction", "WatchCheckFunction", "ResolveFunction"] {
        assert_eq!(functions[id]["Environment"]["Variables"]["API_ENDPOINT"], "HttpApi.ApiEndpoint", "{id}");
    }
}

/// The schedules, each with the function that it calls.
fn schedules(template: &Template) -> Vec<(&str, &Value, &str)> {
    let schedules = template.of_type("AWS::Scheduler::Schedule");
    let found: Vec<_> = schedules
        .map(|(id, schedule)| (id, schedule, schedule["Target"]["Arn"].as_str().unwrap().trim_end_matches(".Arn")))
        .collect();
    assert!(!found.is_empty());
    found
}

#[test]
fn each_schedule_may_call_its_function_and_nothing_else() {
    let template = Template::load();

    for (id, schedule, function) in schedules(template) {
        let role = schedule["Target"]["RoleArn"].as_str().unwrap().trim_end_matches(".Arn");
        let allowed: Value = template.statements(role).into_iter().cloned().collect();
        let function = format!("{function}.Arn");
        let expected = json!([{"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": function}]);
        assert_eq!(allowed, expected, "{id}");
    }
}

/// Lambda takes the scheduler's calls over, and would forget those that fail. The canary's leave nothing to do: what failed is over, and
/// the next call tries again.
#[test]
fn a_failed_call_of_the_scheduler_ends_in_a_dead_letter_queue() {
    let template = Template::load();

    for (id, _, function) in schedules(template) {
        let mut retries = template.of_type("AWS::Lambda::EventInvokeConfig");
        let (_, retries) = retries.find(|(_, retries)| retries["FunctionName"] == function).expect(id);
        if function == "CanaryFunction" {
            assert_eq!((&retries["MaximumRetryAttempts"], &retries["DestinationConfig"]), (&json!(0), &Value::Null));
            continue;
        }
        let queue = retries["DestinationConfig"]["OnFailure"]["Destination"].as_str().expect(id);
        assert!(queue.ends_with("Dlq.Arn"), "{id}: {queue}");
        let role = function.replace("Function", "Role");
        let may_send = |statement: &&Value| {
            texts(&statement["Action"]).contains(&"sqs:SendMessage") && texts(&statement["Resource"]).contains(&queue)
        };
        assert!(template.statements(&role).iter().any(may_send), "{role}: {queue}");
    }
}

/// An alarm that waits for a second failure never goes off where the next call is a night away.
#[test]
fn a_scheduled_function_that_fails_or_is_not_called_has_an_alarm() {
    let template = Template::load();

    for (id, schedule, function) in schedules(template) {
        let times = schedule["ScheduleExpression"].as_str().unwrap();
        let is_called_often = ["cron(* *", "cron(0/5 *"].iter().any(|often| times.starts_with(often));
        let goes_off = |alarm: &Value| {
            // It looks at the errors, or takes them from the calls.
            let errors = match &alarm["Metrics"] {
                Value::Null => alarm,
                queries if queries[0]["Expression"] == "FILL(calls, 0) - FILL(errors, 0)" => {
                    &queries[2]["MetricStat"]["Metric"]
                }
                _ => return false,
            };
            errors["Namespace"] == "AWS/Lambda"
                && errors["MetricName"] == "Errors"
                && errors["Dimensions"] == json!([{"Name": "FunctionName", "Value": function}])
                && (is_called_often || alarm["DatapointsToAlarm"] == 1)
        };
        let misses_calls = |alarm: &Value| {
            let metric = &alarm["Metrics"][1]["MetricStat"]["Metric"];
            alarm["ComparisonOperator"] == "LessThanThreshold"
                && metric["MetricName"] == "Invocations"
                && metric["Dimensions"] == json!([{"Name": "FunctionName", "Value": function}])
        };
        let alarms = match template.condition(id) {
            None => alarms(template, "full"),
            condition => of_conditions(template, "AWS::CloudWatch::Alarm", &[condition]),
        };
        assert!(alarms.iter().any(|(_, alarm)| goes_off(alarm)), "{id}: {function}");
        // For what is called once a day, such an alarm would be on from the deployment until the first call.
        assert!(!is_called_often || alarms.iter().any(|(_, alarm)| misses_calls(alarm)), "{id}: {function}");
    }
}

/// A run looks for the click of the run before, and has to be over by the next one.
#[test]
fn the_canary_is_called_as_often_as_it_expects() {
    let template = Template::load();
    let seconds = Canary::INTERVAL.as_secs();

    assert_eq!(
        template.properties("CanarySchedule")["ScheduleExpression"],
        format!("cron(0/{} * * * ? *)", seconds / 60)
    );
    let timeout = template.properties("CanaryFunction")["Timeout"].as_u64().unwrap();
    assert!((60..seconds).contains(&timeout), "{timeout}");
    for query in &template.properties("CanaryAlarm")["Metrics"].as_array().unwrap()[1..] {
        assert_eq!(query["MetricStat"]["Period"], seconds);
    }
}

/// It costs nothing unless somebody names a link.
#[test]
fn without_a_link_the_canary_is_neither_called_nor_watched() {
    let template = Template::load();

    assert_eq!(template.parameters()["Canary"]["Default"], "");
    assert_eq!(template.conditions()["HasCanary"], json!([["Canary", ""]]), "unless it is empty");
    for id in ["CanarySchedule", "CanaryScheduleRole", "CanaryAlarm"] {
        assert_eq!(template.condition(id), Some("HasCanary"), "{id}");
    }
}

/// A role of its own for each, which allows this much; whatever else is in the policies that name the role.
#[test]
fn every_function_may_write_its_own_log_and_sends_traces() {
    let template = Template::load();
    let (logs, traces) =
        (["logs:CreateLogStream", "logs:PutLogEvents"], ["xray:PutTraceSegments", "xray:PutTelemetryRecords"]);

    for (id, function) in template.functions() {
        let name = id.trim_end_matches("Function");
        let role = format!("{name}Role");
        assert_eq!(function["Role"], format!("{role}.Arn"), "{id}");
        assert_eq!(function["Tracing"], "Tracing", "{id}");
        let allowed = template.statements(&role);
        let expected = json!([
            {"Effect": "Allow", "Action": logs, "Resource": format!("{name}Logs.Arn")},
            {"Effect": "Allow", "Action": traces, "Resource": "*"},
        ]);
        assert_eq!(json!(allowed[..2]), expected, "{id}");
        let others = allowed[2..].iter().flat_map(|statement| texts(&statement["Action"]));
        let further = others.filter(|action| action.starts_with("logs:") || action.starts_with("xray:")).count();
        assert_eq!(further, 0, "{id}");
    }
}

/// All that they serve is part of them, or of the request. The canary sees what everybody sees.
#[test]
fn documentation_qr_codes_and_the_canary_have_no_further_rights() {
    for role in ["WebRole", "QrRole", "CanaryRole"] {
        assert_eq!(Template::load().statements(role).len(), 2, "{role}");
    }
}

/// Otherwise it could run before its role allows what it does, and Lambda would refuse to read a queue or stream for it.
#[test]
fn a_function_is_deployed_after_the_policies_of_its_role() {
    let template = Template::load();
    let mut policies = 0;

    for id in template.functions().into_keys() {
        let role = id.replace("Function", "Role");
        let naming = template.policies_naming(&role).into_iter().filter(|policy| template.condition(policy).is_none());
        for policy in naming {
            policies += 1;
            assert!(template.prerequisites(&id).contains(&policy), "{id}: {policy}");
        }
    }
    assert!(policies > 0);
}

/// For how long a queue hides a message on AWS: a number, the default of a parameter, or a choice between the emulator and AWS.
fn hidden_for(template: &Template, timeout: &Value) -> u64 {
    match timeout {
        Value::Number(seconds) => seconds.as_u64().unwrap(),
        Value::String(parameter) => hidden_for(template, &template.parameters()[parameter]["Default"]),
        choice => {
            assert_eq!(choice[0], "IsEmulated");
            hidden_for(template, &choice[2])
        }
    }
}

/// Somebody waits for them, and a table that doesn't answer must not hold up every request.
#[test]
fn every_function_behind_the_api_reaches_its_tables_through_the_breaker() {
    let mut behind_the_api = 0;
    for folder in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../functions")).unwrap() {
        let main = folder.unwrap().path().join("src/main.rs");
        let text = fs::read_to_string(&main).unwrap();
        if text.contains("http::serve") {
            behind_the_api += 1;
            let is_without = ["aws_sdk_dynamodb", "without_breaker"].iter().any(|other| text.contains(other));
            assert!(!is_without, "{} has tables without the breaker", main.display());
        }
    }
    assert!(behind_the_api > 0);
}

/// Loading them takes some tens of milliseconds, which everybody who follows a link would wait for.
#[test]
fn only_counting_contains_the_regular_expressions_for_user_agents() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lock = fs::read_to_string(root.join("Cargo.lock")).unwrap();
    let crates: BTreeMap<&str, Vec<&str>> = lock
        .split("[[package]]")
        .filter_map(|package| {
            let texts: Vec<&str> = package.split('"').skip(1).step_by(2).collect();
            let (_, dependencies) = package.split_once("dependencies = [").unwrap_or_default();
            let names = dependencies.split('"').skip(1).step_by(2).map(|name| name.split(' ').next().unwrap());
            Some((*texts.first()?, names.collect()))
        })
        .collect();
    let contains = |function: &str| {
        let (mut found, mut next) = (BTreeSet::new(), vec![function]);
        while let Some(name) = next.pop() {
            if found.insert(name) {
                next.extend(&crates[name]);
            }
        }
        found.contains("ua-parser")
    };

    let folders = fs::read_dir(root.join("functions")).unwrap();
    let functions = folders.map(|folder| folder.unwrap().file_name().into_string().unwrap());

    let containing: BTreeSet<_> = functions.filter(|name| contains(name)).collect();
    assert_eq!(containing, ["analytics", "operate", "stats"].map(String::from).into());
}

/// A message that comes again while it is still being worked on would be worked on twice.
/// Lambda stops a function that keeps sending messages to the queue that invokes it
/// (<https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html>).
#[test]
fn no_function_may_send_to_the_queue_that_invokes_it() {
    let (template, mut queues) = (Template::load(), 0);
    for (id, source) in template.of_type("AWS::Lambda::EventSourceMapping") {
        let queue = source["EventSourceArn"].as_str().unwrap();
        queues += usize::from(queue.ends_with("Queue.Arn"));
        let role = template.functions()[source["FunctionName"].as_str().unwrap()]["Role"].clone();
        let sends = |statement: &&Value| {
            texts(&statement["Action"]).contains(&"sqs:SendMessage") && texts(&statement["Resource"]).contains(&queue)
        };
        let allowed = template.statements(role.as_str().unwrap().trim_end_matches(".Arn"));
        assert_eq!(allowed.into_iter().find(sends), None, "{id}");
    }
    assert_eq!(queues, 3);
}

#[test]
fn a_queue_hides_messages_six_times_as_long_as_consumers_run() {
    let template = Template::load();
    let functions = template.functions();

    for (id, source) in template.of_type("AWS::Lambda::EventSourceMapping") {
        let Some(queue) = source["EventSourceArn"].as_str().unwrap().strip_suffix("Queue.Arn") else { continue };
        let queue = template.properties(&format!("{queue}Queue"));
        let timeout = functions[source["FunctionName"].as_str().unwrap()]["Timeout"].as_u64().unwrap();
        let window = source["MaximumBatchingWindowInSeconds"].as_str().map(|name| &template.parameters()[name]);
        assert!(window.is_some() || source["BatchSize"].as_u64().unwrap() <= 10, "{id}: Lambda asks for a window");
        let longest = window.map_or(0, |window| window["MaxValue"].as_u64().unwrap());
        assert!(hidden_for(template, &queue["VisibilityTimeout"]) >= 6 * timeout + longest, "{id}");
    }
}

/// A partition without a worker would miss its ticks.
#[test]
fn lambda_runs_a_worker_for_each_partition_and_two_at_least() {
    let template = Template::load();

    for checks in template.parameters()["MaxConcurrency"]["AllowedValues"].as_array().unwrap() {
        let checks = checks.as_str().unwrap();
        let partitions = checks.parse::<Concurrency>().unwrap().partitions();
        assert_eq!(template.mappings()["Workers"][checks]["AtOnce"], partitions.max(2), "{checks} checks at a time");
    }
}

/// A worker that is killed loses all results of its tick.
#[test]
fn a_worker_has_time_for_the_longest_interval_and_a_hanging_table() {
    let template = Template::load();
    let intervals = template.parameters()["CheckIntervalSeconds"]["AllowedValues"].as_array().unwrap();
    let longest = intervals.iter().filter_map(Value::as_f64).fold(0.0, f64::max);
    // The results, and then how a target stands: what it has done since, and the change.
    let storing = 3.0 * 2.4;

    let timeout = template.functions()["WatchCheckFunction"]["Timeout"].as_f64().unwrap();

    assert!(longest >= 60.0 && timeout >= longest + storing, "{timeout}");
}

/// ThrottleTable has nothing that anybody would miss, and is deleted with the stack.
#[test]
fn tables_refuse_to_be_deleted_unless_a_parameter_allows_it() {
    let template = Template::load();

    assert_eq!(template.parameters()["DeletionProtection"]["Default"], "on");
    assert_eq!(template.conditions()["ProtectsTables"], json!(["DeletionProtection", "on"]));
    for (id, table) in template.of_type("AWS::DynamoDB::Table") {
        let protected = (id != "ThrottleTable").then(|| json!(["ProtectsTables", true, false]));
        assert_eq!(table.get("DeletionProtectionEnabled"), protected.as_ref(), "{id}");
    }
}

#[test]
fn logs_outlive_their_stack_and_do_not_block_a_new_one() {
    let template = Template::load();

    let mut groups = 0;
    for (id, group) in template.of_type("AWS::Logs::LogGroup") {
        groups += 1;
        assert_eq!(template.at_the_end(id), (Some("RetainExceptOnCreate"), Some("Retain")), "{id}");
        assert_eq!(group.get("LogGroupName"), None, "{id} would have the name of the one that was left");
    }
    assert_eq!(groups, template.functions().len() + 1, "the API's access log is one, too");
}

#[test]
fn a_key_of_ones_own_encrypts_all_but_the_topics_of_alarms() {
    let template = Template::load();

    assert_eq!(template.parameters()["KmsKeyArn"]["Default"], "");
    assert_eq!(template.conditions()["HasKey"], json!([["KmsKeyArn", ""]]));
    let of_table = json!({"SSEEnabled": true, "SSEType": "KMS", "KMSMasterKeyId": "KmsKeyArn"});
    for (id, table) in template.of_type("AWS::DynamoDB::Table") {
        assert_eq!(table["SSESpecification"], json!(["HasKey", of_table, "AWS::NoValue"]), "{id}");
    }
    let key = json!(["HasKey", "KmsKeyArn", "AWS::NoValue"]);
    for (id, topic) in template.of_type("AWS::SNS::Topic") {
        let is_of_alarms = template.condition(id) == Some("HasAlarms");
        assert_eq!(topic["KmsMasterKeyId"], if is_of_alarms { Value::Null } else { key.clone() }, "{id}");
    }
    for (id, queue) in template.of_type("AWS::SQS::Queue") {
        assert_eq!(queue["KmsMasterKeyId"], key, "{id}");
        assert_eq!(queue["SqsManagedSseEnabled"], json!(["HasKey", false, true]), "{id}: SQS takes one key only");
        assert_eq!(queue["KmsDataKeyReusePeriodSeconds"], json!(["HasKey", 3600, "AWS::NoValue"]), "{id}");
    }
    for (id, group) in template.of_type("AWS::Logs::LogGroup") {
        assert_eq!(group["KmsKeyId"], key, "{id}");
    }
}

/// The services use the key in the caller's name, so without it the functions could neither read nor write.
#[test]
fn every_function_may_use_the_key_through_the_services_that_it_calls() {
    let template = Template::load();
    let policy = template.properties("KeyPolicy");
    let statements = policy["PolicyDocument"]["Statement"].as_array().unwrap();
    let services = statements.iter().flat_map(|statement| {
        assert_eq!(statement["Resource"], "KmsKeyArn");
        let through = &statement["Condition"]["StringEquals"]["kms:ViaService"];
        let actions = texts(&statement["Action"]);
        assert!(actions.contains(&"kms:Decrypt") && actions.contains(&"kms:GenerateDataKey"), "{actions:?}");
        texts(through).into_iter().map(|service| service.split('.').next().unwrap())
    });

    assert_eq!(services.collect::<Vec<_>>(), ["dynamodb", "sqs", "sns", "logs"]);
    assert_eq!(template.condition("KeyPolicy"), Some("HasKey"));
    for (id, function) in template.functions() {
        let role = template.properties(function["Role"].as_str().unwrap().trim_end_matches(".Arn"));
        let managed = role["ManagedPolicyArns"].as_array().unwrap();
        assert!(managed.contains(&json!(["HasKey", "KeyPolicy", "AWS::NoValue"])), "{id}");
    }
}

/// Otherwise a message whose delivery failed would come again too early, and be refused by its own claim.
#[test]
fn a_claim_on_a_notification_runs_out_before_its_message_comes_again() {
    let everywhere = Template::load().parameters()["QueueVisibilitySeconds"]["Default"].as_u64().unwrap();
    let settings = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samconfig.toml")).unwrap();
    let (_, locally) = settings.split_once("\"QueueVisibilitySeconds=").unwrap();
    let locally = locally.split_once('"').unwrap().0.parse().unwrap();

    for seconds in [everywhere, locally] {
        assert!(CLAIMED_FOR < Duration::from_secs(seconds), "{seconds}");
    }
}
