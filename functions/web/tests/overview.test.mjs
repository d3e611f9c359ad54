import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

const { chartOf, hasTopLinks, keptOf, queryOfView, timeIn, timeQueryOf, viewOf } = await import('../app/pages/overview/time.js');
const { wordsOfCovers } = await import('../app/pages/overview/covers.js');
const { here, href, navigate, route, setQuery } = await import('../app/core/router.js');
const { call } = await import('../app/core/api.js');

here.slug = () => 'fjord';
// Where days begin before those of UTC, the last one is still that of UTC.
const NOW = Date.parse('2026-11-12T23:30:00Z');
const view = (text, tag = '') => viewOf(new URLSearchParams(text), tag, NOW);

const counts = (clicks, before) => ({ total_clicks: clicks, human_clicks: clicks - 1, total_clicks_before: before, human_clicks_before: before });
const SIXTY = Array.from({ length: 60 }, (_, at) => ({ date: new Date(NOW - (59 - at) * 86_400_000).toISOString().slice(0, 10), clicks: at, human_clicks: 0 }));
const PLAIN = { clicks: { today: counts(1, 2), last_7_days: counts(70, 60), last_30_days: counts(300, 250) }, period: null, days: SIXTY, top_links: [] };
const YEAR = { ...PLAIN, days: SIXTY.slice(0, 2), period: { from: '2025-11-13', to: '2026-11-12', ...counts(900, null), covers: { clicks: 1, of: 2 } } };

test('usual ranges need no further question, and others are asked for', () => {
  assert.deepEqual([view(''), view('range=7d'), view('', 'a/b')].map(queryOfView), [{ tag: '' }, { tag: '' }, { tag: 'a/b' }]);
  assert.deepEqual(queryOfView(view('range=12m')), { tag: '', from: '2025-11-13', to: '2026-11-12' });
  assert.deepEqual(queryOfView(view('range=own&from=2026-11-01&to=2026-11-03', 'x')), { tag: 'x', from: '2026-11-01', to: '2026-11-03' });
  assert.deepEqual(timeQueryOf(view('')), { tag: '', from: '2026-10-14', to: '2026-11-12' });
});

test('a range has days, sums, and the time before if it is known', () => {
  const week = timeIn(PLAIN, view('range=7d'));
  assert.deepEqual([week.sums.total_clicks, week.days.map(({ clicks }) => clicks), week.before.map(({ clicks }) => clicks)], [70, [53, 54, 55, 56, 57, 58, 59], [46, 47, 48, 49, 50, 51, 52]]);
  const month = timeIn(PLAIN, view(''));
  assert.deepEqual([month.sums.total_clicks, month.days.length, month.before.length], [300, 30, 30]);
  const year = timeIn(YEAR, view('range=12m'));
  assert.deepEqual([year.sums.total_clicks_before, year.days.length, year.before.length, year.covers], [null, 2, 0, { clicks: 1, of: 2 }]);
});

test('a chart has a line of the time before only where that is known', () => {
  const labels = (overview, text) => chartOf(overview, view(text)).series.map(({ label }) => label);
  assert.deepEqual(labels(PLAIN, 'range=7d'), ['Human clicks', 'All clicks', 'The 7 days before']);
  assert.deepEqual(labels(YEAR, 'range=12m'), ['Human clicks', 'All clicks']);
});

test('top links are those of the range', () => {
  assert.deepEqual([hasTopLinks(PLAIN, view('range=7d')), hasTopLinks(PLAIN, view('')), hasTopLinks(YEAR, view('range=12m'))], [true, false, true]);
});

test('nearly all clicks are not called all', () => {
  assert.equal(wordsOfCovers(null), '');
  assert.equal(wordsOfCovers({ clicks: 0, of: 0 }), '');
  assert.match(wordsOfCovers({ clicks: 97, of: 100 }), /which have 97% of them\.$/);
  assert.match(wordsOfCovers({ clicks: 99_999, of: 100_000 }), /which have 99\.9% of them\.$/);
});

test('a page of a tag is about the same time and audience', () => {
  const query = new URLSearchParams('range=own&from=2026-11-01&to=2026-11-03&audience=bot&audience=prefetch&table=1');
  assert.equal(href(['tags', 'x'], keptOf(query)), '#/w/fjord/tags/x?range=own&from=2026-11-01&to=2026-11-03&audience=bot&audience=prefetch');
});

for (const tag of ['a/b', '50% off', '100%', '🧶 wool', 'ربيع', '?q=1#2', '.', 'a,b', '%2F']) {
  test(`the address of the tag ${tag} leads to it, also with another query`, () => {
    navigate(href(['tags', tag]));
    setQuery({ range: '7d' });
    assert.deepEqual([route.get().workspace, route.get().parts, route.get().query.get('range')], ['fjord', ['tags', tag], '7d']);
  });
}

test('the API is asked about any tag', async () => {
  const requests = answering({ body: {} });
  await call('GET /api/overview', { query: { tag: 'a/b & c%', from: '', to: '' } });
  assert.equal(new URL(requests[0].url).search, '?tag=a%2Fb+%26+c%25');
});
