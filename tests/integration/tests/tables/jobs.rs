use std::time::Duration;

use futures_util::future::join_all;
use linklet_domain::{
    Changer, CorrelationId, Job, JobFailure, JobProgress, JobState, Role, Timestamp, UserId, WorkId, WorkspaceId,
};
use linklet_dynamodb::{JobEnd, JobMark, JobsTable, NotStarted, Reached, Table};
use linklet_test_support::{Rendezvous, TestDynamoDb};
use serde_json::json;

/// A job that nobody has stored yet.
fn new_job(workspace: &WorkspaceId) -> Job {
    job_of(&UserId::generate(), Role::Member, workspace)
}

fn job_of(creator: &UserId, role: Role, workspace: &WorkspaceId) -> Job {
    let work = json!({"kind": "rename_tag", "from": "a", "to": "b", "filter": {"tag": ["a", "-c"], "archived": "all"}});
    let work = serde_json::from_value(work).unwrap();
    let asked = (Timestamp::now(), CorrelationId::generate());
    Job::new(*workspace, work, (Changer::in_person(creator), role), asked, Some(12))
}

fn a_workspace() -> (TestDynamoDb, JobsTable, WorkspaceId) {
    let db = TestDynamoDb::start();
    let jobs = db.jobs();
    (db, jobs, WorkspaceId::generate())
}

async fn three_started(jobs: &JobsTable, workspace: &WorkspaceId) -> [Job; 3] {
    [started(jobs, workspace).await, started(jobs, workspace).await, started(jobs, workspace).await]
}

/// Stores these jobs at the same time, and returns how many have found a place.
async fn place_at_once(jobs: &JobsTable, new: Vec<Job>) -> usize {
    let created = join_all(new.iter().map(|job| jobs.create(job, None))).await;
    created.into_iter().filter(|created| created.as_ref().unwrap().is_ok()).count()
}

async fn started(jobs: &JobsTable, workspace: &WorkspaceId) -> Job {
    jobs.create(&new_job(workspace), None).await.unwrap().unwrap()
}

fn somebody() -> Changer {
    Changer::in_person(&UserId::generate())
}

async fn found(jobs: &JobsTable, job: &Job) -> Job {
    jobs.find(&job.workspace, &job.id).await.unwrap().unwrap()
}

fn reached(seen: u64, checkpoint: &str) -> Reached {
    Reached {
        progress: JobProgress { seen, changed: seen, ..JobProgress::default() },
        checkpoint: Some(checkpoint.to_owned()),
    }
}

fn end(state: JobState, progress: &JobProgress) -> JobEnd<'_> {
    JobEnd { state, reason: None, progress, at: Timestamp::now() }
}

#[tokio::test]
async fn a_job_is_read_as_it_was_stored() {
    let (db, workspace) = (TestDynamoDb::start(), WorkspaceId::generate());
    let (first, second) = (new_job(&workspace), new_job(&workspace));

    let running = db.jobs().create(&first, None).await.unwrap().unwrap();
    let waiting = db.jobs().create(&second, None).await.unwrap().unwrap();

    let begun = Some(first.created_at);
    assert_eq!(running, Job { state: JobState::Running, started_at: begun, noted_at: begun, ..first });
    assert_eq!(waiting, second);
    assert_eq!((found(&db.jobs(), &running).await, found(&db.jobs(), &waiting).await), (running, waiting));
}

#[tokio::test]
async fn pages_of_jobs_leave_out_the_marks_of_a_closed_workspace() {
    let (_db, jobs, workspace) = a_workspace();
    let mut created = Vec::new();
    for _ in 0..3 {
        created.push(jobs.create(&new_job(&workspace), None).await.unwrap().unwrap().id);
    }
    for mark in [JobMark::Closed, JobMark::Revisit] {
        jobs.mark(&WorkId::Job { workspace, job: created[0] }, mark, Timestamp::now()).await.unwrap();
    }

    let (mut listed, mut after) = (Vec::new(), None);
    for _ in 0..3 {
        let page = jobs.list(&workspace, 1, after.as_ref()).await.unwrap();
        listed.extend(page.items.into_iter().map(|job| job.id));
        after = page.next;
    }

    created.reverse();
    assert_eq!((listed, after), (created, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn at_most_two_jobs_of_a_person_and_four_of_members_wait() {
    let (db, workspace) = (TestDynamoDb::start(), WorkspaceId::generate());
    let (jobs, [ada, bob, carol]) = (db.jobs(), [(); 3].map(|()| UserId::generate()));
    let many = |creator: &UserId, role| (0..30).map(|_| job_of(creator, role, &workspace)).collect();

    assert_eq!(place_at_once(&jobs, many(&ada, Role::Member)).await, 3, "one of them runs");
    assert_eq!(place_at_once(&jobs, (0..30).map(|_| new_job(&workspace)).collect()).await, 2);
    assert_eq!(place_at_once(&jobs, many(&bob, Role::Member)).await, 0);
    assert_eq!(place_at_once(&jobs, many(&carol, Role::Admin)).await, 2);
    assert_eq!(place_at_once(&jobs, many(&carol, Role::Admin)).await, 0);
}

#[tokio::test]
async fn a_place_is_free_again_when_a_job_begins_or_is_cancelled() {
    let (db, workspace) = (TestDynamoDb::start(), WorkspaceId::generate());
    let (jobs, ada) = (db.jobs(), UserId::generate());
    let create = async || jobs.create(&job_of(&ada, Role::Admin, &workspace), None).await.unwrap();
    let (running, waiting) = (create().await.unwrap(), create().await.unwrap());
    create().await.unwrap();
    assert_eq!(create().await, Err(NotStarted::NoPlace));

    jobs.cancel(&workspace, &waiting.id, &somebody(), Timestamp::now()).await.unwrap();
    assert!(create().await.is_ok());
    assert_eq!(create().await, Err(NotStarted::NoPlace));
    jobs.end(&running.clone().into(), &end(JobState::Done, &JobProgress::default())).await.unwrap();
    assert!(create().await.is_ok());
    assert_eq!(create().await, Err(NotStarted::NoPlace));
}

#[tokio::test]
async fn forty_jobs_of_admins_wait_at_most() {
    let (db, workspace) = (TestDynamoDb::start(), WorkspaceId::generate());
    let mut placed = 0;
    for _ in 0..45 {
        let created = db.jobs().create(&job_of(&UserId::generate(), Role::Admin, &workspace), None).await.unwrap();
        placed += usize::from(created.is_ok());
    }

    assert_eq!(placed, 1 + Job::MOST_WAITING_WITH_ADMINS);
}

#[tokio::test]
async fn only_the_step_that_was_read_can_be_noted_or_ended() {
    let (_db, jobs, workspace) = a_workspace();
    let job = started(&jobs, &workspace).await;
    let at = Timestamp::now().plus(Duration::from_secs(5));

    jobs.note(&job.run(), &reached(10, "first"), at).await.unwrap();
    jobs.note(&job.run(), &reached(99, "again"), at).await.unwrap();
    jobs.end(&job.clone().into(), &end(JobState::Done, &JobProgress::default())).await.unwrap();

    let noted = found(&jobs, &job).await;
    let Reached { progress, checkpoint } = reached(10, "first");
    assert_eq!(noted, Job { progress, checkpoint, step: 1, noted_at: Some(at), ..job });
}

#[tokio::test]
async fn a_note_keeps_what_somebody_has_cancelled_meanwhile() {
    let (_db, jobs, workspace) = a_workspace();
    let job = started(&jobs, &workspace).await;
    let cancelled = jobs.cancel(&workspace, &job.id, &somebody(), Timestamp::now()).await.unwrap().unwrap();

    jobs.note(&job.run(), &reached(10, "first"), Timestamp::now()).await.unwrap();

    assert_eq!((cancelled.state, cancelled.step), (JobState::Cancelling, 0));
    let noted = found(&jobs, &job).await;
    assert_eq!((noted.state, noted.step, noted.progress.seen), (JobState::Cancelling, 1, 10));
}

#[tokio::test]
async fn the_end_of_a_job_begins_the_next_and_is_written_once() {
    let (_db, jobs, workspace) = a_workspace();
    let [first, second, third] = three_started(&jobs, &workspace).await;
    let progress = reached(7, "").progress;

    jobs.end(&first.clone().into(), &end(JobState::Done, &progress)).await.unwrap();
    let ended = found(&jobs, &first).await;
    jobs.end(&first.clone().into(), &end(JobState::Failed, &JobProgress::default())).await.unwrap();
    jobs.note(&first.run(), &reached(99, "late"), Timestamp::now()).await.unwrap();

    assert_eq!((ended.state, &ended.progress, ended.ended_at.is_some()), (JobState::Done, &progress, true));
    assert_eq!(found(&jobs, &first).await, ended);
    let states = [&second, &third].map(|job| async { found(&jobs, job).await.state });
    assert_eq!(futures_util::future::join_all(states).await, [JobState::Running, JobState::Queued]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_cancelled_while_the_one_before_ends_doesnt_begin() {
    let (db, jobs, workspace) = a_workspace();
    let [first, second, third] = three_started(&jobs, &workspace).await;
    let together = JobsTable(Table::new(db.client_with(Rendezvous::of(2)), "JobsTable"));
    let (ending, cancelling) = (together.clone(), together);

    let (job, id) = (first.clone(), second.id);
    let ends =
        tokio::spawn(async move { ending.end(&job.into(), &end(JobState::Done, &JobProgress::default())).await });
    let cancels = tokio::spawn(async move { cancelling.cancel(&workspace, &id, &somebody(), Timestamp::now()).await });
    ends.await.unwrap().unwrap();
    cancels.await.unwrap().unwrap();

    let second = found(&jobs, &second).await.state;
    let third = found(&jobs, &third).await.state;
    // It was cancelled before it began, or has begun and is to end.
    let either = [(JobState::Cancelled, JobState::Running), (JobState::Cancelling, JobState::Queued)];
    assert!(either.contains(&(second, third)), "{second:?}, {third:?}");
}

#[tokio::test]
async fn a_job_is_stuck_after_an_hour_and_given_up_once() {
    let (_db, jobs, workspace) = a_workspace();
    let job = started(&jobs, &workspace).await;
    let after = |minutes: u64| job.created_at.plus(Duration::from_secs(60 * minutes));

    jobs.give_up_stuck(&workspace, after(59)).await.unwrap();
    assert_eq!(found(&jobs, &job).await, job);
    jobs.give_up_stuck(&workspace, after(60)).await.unwrap();
    jobs.give_up_stuck(&workspace, after(61)).await.unwrap();

    let given_up = found(&jobs, &job).await;
    assert_eq!((given_up.state, given_up.reason), (JobState::Failed, Some(JobFailure::NoProgress)));
    assert_eq!(given_up.ended_at, Some(after(60)));
    jobs.give_up_stuck(&WorkspaceId::generate(), after(90)).await.unwrap();
}

#[tokio::test]
async fn a_job_is_deleted_thirty_days_after_its_end_not_before() {
    let (db, jobs, workspace) = a_workspace();
    let at = Timestamp::now().minus(Duration::from_secs(31 * 86_400));
    let [old, running, waiting] = three_started(&jobs, &workspace).await;
    jobs.end(&old.clone().into(), &JobEnd { at, ..end(JobState::Done, &JobProgress::default()) }).await.unwrap();
    jobs.cancel(&workspace, &waiting.id, &somebody(), Timestamp::now()).await.unwrap();

    db.sweep_ttl();

    assert_eq!(jobs.find(&workspace, &old.id).await.unwrap(), None);
    let left = jobs.list(&workspace, 10, None).await.unwrap().items;
    assert_eq!(left.iter().map(|job| job.id).collect::<Vec<_>>(), [waiting.id, running.id]);
    // It runs, and nothing else waits.
    let states: Vec<_> = left.iter().map(|job| job.state).collect();
    assert_eq!(states, [JobState::Cancelled, JobState::Running]);
}
