import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { afterJobs, arranged, isBehind, otherNamed, underWay } = await import('../app/pages/tags/arranged.js');

const TAGS = [
  { tag: 'news', links: 9, total_clicks: 5 },
  { tag: 'Café', links: 4, total_clicks: 70 },
  { tag: 'sale 10', links: 4, total_clicks: 1 },
  { tag: 'sale 9', links: 2, total_clicks: 70 },
];
const AS_OF = '2026-11-12T14:00:00.000Z';
const AFTER = '2026-11-12T14:00:30.000Z';
const job = (more) => ({ kind: 'rename_tag', state: 'done', changed: 4, failed: 0, ended_at: AFTER, ...more });
const names = (tags) => tags.map(({ tag }) => tag);

test('tags are in the order that is wanted, and equal ones by their names', () => {
  assert.deepEqual(names(arranged(TAGS, { text: '', sort: 'links' })), ['news', 'Café', 'sale 10', 'sale 9']);
  assert.deepEqual(names(arranged(TAGS, { text: '', sort: 'clicks' })), ['Café', 'sale 9', 'news', 'sale 10']);
  assert.deepEqual(names(arranged(TAGS, { text: '', sort: 'name' })), ['Café', 'news', 'sale 9', 'sale 10']);
});

test('a tag is found in whatever case and form it is written', () => {
  assert.deepEqual(names(arranged(TAGS, { text: ' CAFE\u0301', sort: 'links' })), ['Café']);
  assert.deepEqual(names(arranged(TAGS, { text: 'ALE', sort: 'links' })), ['sale 10', 'sale 9']);
  assert.deepEqual(arranged(TAGS, { text: 'x', sort: 'links' }), []);
});

test('a name of another tag merges both, and another spelling of one does not', () => {
  assert.equal(otherNamed(TAGS, 'news', 'cafe\u0301')?.tag, 'Café');
  assert.equal(otherNamed(TAGS, 'news', ' SALE 9 ')?.tag, 'sale 9');
  assert.equal(otherNamed(TAGS, 'Café', 'CAFÉ'), undefined);
  assert.equal(otherNamed(TAGS, 'news', 'newest'), undefined);
});

test('what a job has done since tags were counted is shown', () => {
  const after = (...jobs) => afterJobs(TAGS, AS_OF, jobs);
  assert.deepEqual(names(after(job({ kind: 'untag', from: undefined, tag: 'NEWS' }))), ['Café', 'sale 10', 'sale 9']);
  assert.deepEqual(after(job({ from: 'news', to: 'press' })).find(({ tag }) => tag === 'press'), { tag: 'press', links: 9, total_clicks: 5 });
  assert.deepEqual(after(job({ from: 'Café', to: 'café' })).map(({ tag }) => tag).sort(), ['café', 'news', 'sale 10', 'sale 9']);
  // How many links had both isn't known.
  assert.deepEqual(after(job({ from: 'news', to: 'CAFE\u0301' })), [{ tag: 'Café' }, TAGS[2], TAGS[3]]);
  const twice = after(job({ from: 'press', to: 'media', ended_at: '2026-11-12T14:00:40.000Z' }), job({ from: 'news', to: 'press' }));
  assert(names(twice).includes('media') && !names(twice).includes('press'));
});

test('what was counted, is partial or went wrong is not shown as done', () => {
  const doubtful = [
    job({ from: 'news', to: 'x', ended_at: '2026-11-12T13:59:00.000Z' }),
    job({ from: 'news', to: 'x', failed: 1 }),
    job({ from: 'news', to: 'x', state: 'cancelled' }),
    job({ from: 'news', to: 'x', state: 'running', ended_at: null }),
    job({ kind: 'untag', tag: 'news', filter: { search: 'lamp' } }),
    job({ kind: 'untag', tag: 'news', filter: { tag: ['sale 9'] } }),
    job({ kind: 'untag', tag: 'news', filter: { all: true, archived: 'true' } }),
    job({ from: 'nobody', to: 'x' }),
  ];
  assert.deepEqual(afterJobs(TAGS, AS_OF, doubtful), TAGS);
  assert(isBehind([job({})], AS_OF) && !isBehind([job({ changed: 0 }), job({ ended_at: null }), job({ ended_at: AS_OF })], AS_OF));
});

test('a tag says what is being done to it', () => {
  assert.equal(underWay([job({ state: 'running', from: 'news', to: 'x' })], 'News'), 'Renaming');
  assert.equal(underWay([job({ state: 'queued', kind: 'untag', tag: 'news', filter: { all: true } })], 'news'), 'Deleting');
  assert.equal(underWay([job({ state: 'queued', kind: 'untag', tag: '-a,b', filter: { tag: ['\\-a\\,b'], archived: 'all' } })], '-a,b'), 'Deleting');
  assert.equal(underWay([job({ state: 'running', kind: 'untag', tag: 'news', filter: { tag: ['news'], search: 'a' } })], 'news'), undefined);
  assert.equal(underWay([job({ from: 'news' })], 'news'), undefined);
});
