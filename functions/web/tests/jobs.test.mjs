import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

const { day, number } = await import('../app/core/format.js');
const { session } = await import('../app/core/session.js');
const { endOf, filterWords, plain, progressOf, questionOf, shareOf, titleOf } = await import('../app/parts/jobs/words.js');
const { beginJob, countJob } = await import('../app/parts/jobs/begin.js');

const job = (more) => ({ id: '1', kind: 'archive', state: 'running', expected: 4213, seen: 1200, changed: 1150, failed: 0, failures: [], started_at: '2026-11-12T14:00:00Z', ...more });

test('a job says what it does, with the words of people marked', () => {
  assert.equal(plain(titleOf({ kind: 'rename_tag', from: 'to b', to: 'c' })), 'Rename the tag “to b” to “c”');
  assert.deepEqual(titleOf({ kind: 'tag', tag: '<b>' }).filter((part) => typeof part !== 'string'), [{ theirs: '<b>' }]);
  assert.equal(plain(titleOf({ kind: 'purge' })), 'Delete links with their statistics');
  assert.equal(plain(titleOf({ kind: 'set_expiry', expires_at: '2027-01-05T12:00:00Z' })), `Set links to expire on ${day('2027-01-05T12:00:00Z')}`);
  assert.equal(plain(titleOf({ kind: 'set_expiry', expires_at: null })), 'Set links to never expire');
  assert.equal(plain(titleOf({ kind: 'of_the_future' })), 'Change links');
});

test('a job says which links it is for', () => {
  const words = (filter, creator) => plain(filterWords(filter, creator));
  assert.equal(words(undefined), '');
  assert.equal(words({ all: true }), 'All links');
  assert.equal(words({ tag: ['spring'], status: 'inactive' }), 'Links with the tag “spring”, disabled');
  assert.equal(words({ tag: ['a,b', '-c,-d'], search: 'lamp', archived: 'all' }), 'Links with the tag “a” or “b”, without the tag “c” or “-d”, that contain “lamp”, including archived ones');
  assert.equal(words({ tag: ['1\\,5', '\\-x', 'a\\\\b'] }), 'Links with the tag “1,5”, with the tag “-x”, with the tag “a\\b”');
  assert.equal(words({ archived: true }), 'Archived links');
  assert.equal(words({ archived: 'true', created_by: '7' }, 'Ada'), 'Archived links created by Ada');
  assert.equal(words({ created_after: '2026-03-01T12:00:00Z', external_id: 'x1' }), `Links with the external ID “x1”, created since ${day('2026-03-01T12:00:00Z')}`);
});

test('before links are lost, one types how many', () => {
  const count = { matching: 4213, is_exact: true };
  const question = questionOf({ kind: 'delete', filter: { tag: ['a'] } }, count, false);
  assert.deepEqual([question.title, question.typed, question.isDanger], [`Delete ${number(4213)} links?`, number(4213), true]);
  assert.doesNotMatch(String(question.text), /your own/);
  const harmless = questionOf({ kind: 'archive' }, { matching: 1, is_exact: false }, true);
  assert.deepEqual([harmless.title, harmless.typed, harmless.isDanger], ['Archive at least 1 link?', undefined, false]);
  assert.match(String(harmless.text), /Only your own/);
});

test('progress is a share of what was expected, if that is known', () => {
  assert.equal(progressOf(job(), 0), `${number(1150)} of ${number(4213)} changed`);
  // What was as it is wanted already is neither changed nor failed.
  assert.deepEqual(shareOf(job({ failed: 2 })), { value: 1200, most: 4213 });
  assert.equal(progressOf(job({ failed: 2, expected: null }), 0), `${number(1150)} changed, 2 failed`);
  assert.equal(shareOf(job({ expected: null })), undefined);
  assert.equal(shareOf(job({ expected: 0 })), undefined);
  // More may have come to match since.
  assert.deepEqual(shareOf(job({ expected: 1000 })), { value: 1000, most: 1000 });
  assert.equal(progressOf(job({ expected: 1000 }), 0), `${number(1150)} of ${number(1150)} changed`);
  assert.equal(progressOf(job({ state: 'queued', changed: 0 }), 2), 'Waiting for 2 others');
  assert.equal(progressOf(job({ state: 'queued', changed: 0 }), 0), 'Starting soon');
});

test('a job says how it has ended', () => {
  const end = (more) => endOf(job({ changed: 12, ...more }));
  assert.equal(end({ state: 'done' }), '12 links archived.');
  assert.equal(end({ state: 'done', failed: 1 }), '12 links archived. 1 link couldn’t be changed.');
  assert.equal(end({ state: 'done', changed: 0 }), 'Nothing to change.');
  assert.equal(end({ state: 'done', changed: 0, failed: 2 }), '2 links couldn’t be changed.');
  assert.equal(end({ state: 'cancelled' }), 'Stopped. 12 links archived before that.');
  assert.equal(end({ state: 'cancelled', started_at: null, changed: 0 }), 'Stopped before it started.');
  assert.equal(end({ state: 'failed', reason: { code: 'rights_lost', detail: 'x' } }), 'The member who started it can no longer change links. 12 links archived before that.');
  assert.equal(end({ state: 'failed', reason: { code: 'other', detail: 'the table is away' } }), 'The table is away. 12 links archived before that.');
  assert.equal(end({ state: 'failed' }), '12 links archived before that.');
});

test('a job that is only counted is not begun', async () => {
  session.set({ status: 'in' });
  const requests = answering({ body: { matching: 2, is_exact: true } }, { status: 202, body: job({ id: '2' }) });
  assert.equal((await countJob({ kind: 'archive', filter: { tag: ['a'] } })).matching, 2);
  assert.equal((await beginJob({ kind: 'archive', filter: { tag: ['a'] } })).id, '2');
  assert.deepEqual(requests.map(({ method, body }) => [method, JSON.parse(body).dry_run]), [['POST', true], ['POST', undefined]]);
});

test('that too many jobs wait is said in a sentence', async () => {
  answering({ status: 409, body: { code: 'too_many_jobs', detail: 'two jobs of yours wait; try again' } });
  await assert.rejects(beginJob({ kind: 'archive', filter: { all: true } }), { code: 'too_many_jobs', message: /^Two jobs of yours wait; try again\.$/ });
});
