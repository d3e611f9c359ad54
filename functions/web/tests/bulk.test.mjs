import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { ApiError } = await import('../app/core/api.js');
const { session } = await import('../app/core/session.js');
const { filterOf, mayChangeMatching } = await import('../app/pages/links/filter.js');
const { piecesOf, sendAll } = await import('../app/parts/bulk/bulk.js');
const { jobFilterOf } = await import('../app/parts/selection/job-filter.js');
const { tagsBack, valueBack } = await import('../app/parts/selection/undo.js');

const numbers = (count) => Array.from({ length: count }, (_, index) => `code${index}`);
const done = (code) => ({ status: 200, link: { short_code: code } });
const refused = (status, code) => ({ status, link: null, problem: { code, detail: `${code} it is` } });
const busy = new ApiError('problem', 'too much', { status: 429, code: 'rate_limited', retryAfter: 0.001 });
const late = { ...refused(503, 'try_again') };

/** Answers requests one after another; the last answer is for all further ones. */
function answeringWith(...answers) {
  const sent = [];
  const send = async (things) => {
    sent.push(things);
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error) throw answer;
    return { results: things.map((thing, index) => ({ index, ...answer(thing, index) })) };
  };
  return { sent, send };
}

test('many links go in requests of a hundred, and each has its own result', async () => {
  const codes = numbers(250);
  const { sent, send } = answeringWith((code) => (code === 'code120' ? refused(410, 'link_deleted') : done(code)));
  const told = [];

  const outcomes = await sendAll(codes, send, { tell: (progress) => told.push(progress.done) });

  assert.deepEqual(sent.map(({ length }) => length), [100, 100, 50]);
  assert.deepEqual(outcomes.map(({ thing }) => thing), codes);
  assert.deepEqual(outcomes.filter(({ error }) => error).map(({ thing, error }) => [thing, error.status, error.message]), [['code120', 410, 'Link_deleted it is.']]);
  assert.equal(outcomes[7].link.short_code, 'code7');
  assert.deepEqual(told, [0, 100, 200]);
});

test('links that take up too much room go in a request of their own', () => {
  const sizes = [100_000, 100_000, 100_000, 300_000, 1];
  assert.deepEqual(piecesOf(sizes, (size) => size), [[100_000, 100_000], [100_000], [300_000], [1]]);
  assert.deepEqual(piecesOf([], () => 1), []);
});

test('only what there was no time for is asked for again', async () => {
  const { sent, send } = answeringWith((code, index) => (index < 2 ? done(code) : late), done);
  const told = [];

  const outcomes = await sendAll(numbers(5), send, { tell: ({ done: count, retryAfter }) => told.push([count, retryAfter]) });

  assert.deepEqual(sent, [numbers(5), numbers(5).slice(2)]);
  assert(outcomes.every(({ link, isSent }) => link && isSent));
  assert.deepEqual(told, [[0, undefined], [2, 1], [2, undefined]]);
});

test('a request that came too soon is sent again after the named time', async () => {
  const { sent, send } = answeringWith(busy, busy, done);
  const outcomes = await sendAll(numbers(3), send);
  assert.equal(sent.length, 3);
  assert(outcomes.every(({ link }) => link));
});

test('a request that always comes too soon is given up with all after it', async () => {
  const { sent, send } = answeringWith(busy);
  const outcomes = await sendAll(numbers(150), send);
  assert.equal(sent.length, 4);
  assert(outcomes.every(({ error, isSent }) => error === busy && !isSent));
});

test('as long as something is done, the rest is asked for once more', async () => {
  // One link in each of ten requests.
  const { sent, send } = answeringWith((code, index) => (index === 0 ? done(code) : { ...late }));
  const now = globalThis.setTimeout;
  globalThis.setTimeout = (work) => now(work, 0);
  const outcomes = await sendAll(numbers(10), send);
  globalThis.setTimeout = now;
  assert.equal(sent.length, 10);
  assert(outcomes.every(({ link }) => link));
});

test('after a lost connection nothing more is sent, and what was done stays done', async () => {
  const lost = new ApiError('offline', 'no answer');
  const { sent, send } = answeringWith(done, lost);
  const outcomes = await sendAll(numbers(300), send);
  assert.equal(sent.length, 2);
  assert.deepEqual([0, 99, 100, 299].map((index) => outcomes[index].error), [undefined, undefined, lost, lost]);
});

test('nothing is sent to another workspace than the one in which it was begun', async () => {
  const { sent, send } = answeringWith((code) => {
    session.set({ visit: session.get().visit + 1 });
    return done(code);
  });
  const outcomes = await sendAll(numbers(200), send);
  assert.equal(sent.length, 1);
  assert.match(outcomes[150].error.message, /another workspace/);
});

const link = (short_code, more) => ({ short_code, tags: [], archived: false, is_active: true, expires_at: null, ...more });

test('undoing a change of tags restores what each link had', () => {
  const before = [link('aaaa', { tags: ['Sale', 'old'] }), link('bbbb'), link('cccc', { tags: ['new', 'kept'] }), link('dddd', { tags: ['SALE', 'NEW'] })];

  const steps = tagsBack(before, { add: ['sale', 'new'], remove: ['Old'] });

  assert.deepEqual(steps.map(({ links, bodyOf }) => bodyOf(links)), [
    { codes: ['aaaa'], add_tags: ['old'], remove_tags: ['new'] },
    { codes: ['bbbb'], remove_tags: ['sale', 'new'] },
    { codes: ['cccc'], remove_tags: ['sale'] },
  ]);
  assert.deepEqual(tagsBack([before[3]], { add: ['new'], remove: ['nothing'] }), []);
  // The same for many is one request.
  assert.equal(tagsBack([link('aaaa'), link('bbbb')], { add: ['new'], remove: [] }).length, 1);
});

test('each link gets back the value that it had', () => {
  const before = [link('aaaa'), link('bbbb', { expires_at: '2027-01-01T00:00:00Z' }), link('cccc', { expires_at: '2026-01-01T00:00:00Z' })];

  const [{ links, bodyOf }] = valueBack(before, 'expires_at', '2027-01-01T00:00:00Z');

  assert.deepEqual(bodyOf(links), { links: [{ code: 'aaaa', expires_at: null }, { code: 'cccc', expires_at: '2026-01-01T00:00:00Z' }] });
  assert.deepEqual(valueBack([link('aaaa', { archived: true })], 'archived', true), []);
});

test('a job is for the links that the list shows', () => {
  const jobOf = (query) => jobFilterOf(filterOf(new URLSearchParams(query)));
  session.set({ me: { user_id: 'u1', email: 'ada@example.com', workspace_id: 'w1', role: 'admin' } });

  // Without a filter, a list has what isn’t archived.
  assert.deepEqual(jobOf(''), { archived: 'false' });
  assert.deepEqual(jobOf('sort=clicks&archived=all'), { archived: 'all' });
  const { created_after, ...others } = jobOf('q=sale&tag=a,b&tag=c&not=d&by=u2&status=inactive&from=2026-03-01');
  assert.deepEqual(others, { search: 'sale', tag: ['a\\,b', 'c', '-d'], created_by: 'u2', status: 'inactive', archived: 'false' });
  assert.equal(created_after, new Date(2026, 2, 1).toISOString());
});

test('members change all that match as far as it is theirs', () => {
  const filter = filterOf(new URLSearchParams('q=sale'));
  const others = filterOf(new URLSearchParams('by=u2'));
  const me = { user_id: 'u1', email: 'ada@example.com', workspace_id: 'w1' };

  session.set({ me: { ...me, role: 'member' } });
  assert.deepEqual(jobFilterOf(filter), { search: 'sale', archived: 'false', created_by: 'u1' });
  assert.deepEqual([mayChangeMatching(filter), mayChangeMatching(others)], [true, false]);
  session.set({ me: { ...me, role: 'viewer' } });
  assert(!mayChangeMatching(filter));
});
