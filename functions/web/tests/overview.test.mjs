import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

// Where days begin after those of UTC.
process.env.TZ = 'America/Los_Angeles';
const { chartOf, hasTopLinks, keptOf, queryOfBefore, queryOfView, timeIn, timeQueryOf, viewOf } = await import('../app/pages/overview/time.js');
const { nameAt } = await import('../app/parts/chart/moments.js');
const { wordsOfCovers } = await import('../app/pages/overview/covers.js');
const { here, href, navigate, route, setQuery } = await import('../app/core/router.js');
const { call } = await import('../app/core/api.js');

here.slug = () => 'fjord';
// In Los Angeles it is still Friday, the 13th.
const NOW = Date.parse('2026-11-14T01:30:00Z');
const view = (text, tag = '') => viewOf(new URLSearchParams(text), tag, NOW);

const counts = (clicks, before) => ({ total_clicks: clicks, human_clicks: clicks - 1, total_clicks_before: before, human_clicks_before: before });
const dayBefore = (days) => new Date(NOW - days * 86_400_000).toISOString().slice(0, 10);
const daysOf = (count, last) => Array.from({ length: count }, (_, at) => ({ date: dayBefore(last + count - 1 - at), clicks: at, human_clicks: 0 }));
const SIXTY = daysOf(60, 0);
const AS_OF = { as_of: new Date(NOW).toISOString(), top_links: [] };
const PLAIN = { ...AS_OF, clicks: { today: counts(1, 2), last_7_days: counts(70, 60), last_30_days: counts(300, 250) }, period: null, days: SIXTY };
const YEAR = { ...PLAIN, days: daysOf(2, 0), period: { from: '2025-11-15', to: '2026-11-14', ...counts(900, null), covers: { clicks: 1, of: 2 } } };
const YEAR_BEFORE = { ...YEAR, days: daysOf(2, 365), period: { ...YEAR.period, ...counts(400, null) } };
const OWN = 'range=own&from=2026-11-01&to=2026-11-03';

test('what the last 60 days hold needs no question about a time', () => {
  const recent = ['', 'range=7d', OWN, 'range=today', 'range=last-week', 'range=own&from=2026-10-16&to=2026-11-14'];
  assert.deepEqual(recent.map((text) => [queryOfView(view(text, 'a/b')), queryOfBefore(view(text))]), recent.map(() => [{ tag: 'a/b' }, undefined]));
  assert.deepEqual(timeQueryOf(view('')), { tag: '', from: '2026-10-16', to: '2026-11-14' });
});

test('other times are asked for, and so is what each is compared with', () => {
  const asked = (text) => [queryOfView(view(text, 'x')), queryOfBefore(view(text, 'x'))];
  assert.deepEqual(asked('range=12m'), [{ tag: 'x', from: '2025-11-15', to: '2026-11-14' }, { tag: 'x', from: '2024-11-15', to: '2025-11-14' }]);
  assert.deepEqual(asked('range=last-month'), [{ tag: 'x', from: '2026-10-01', to: '2026-10-31' }, { tag: 'x', from: '2026-09-01', to: '2026-09-30' }]);
  assert.deepEqual(asked('range=all'), [{ tag: 'x', from: '2025-10-15', to: '2026-11-14' }, undefined]);
});

test('a range has days, sums, and the time before', () => {
  const clicksOf = (days) => days.map(({ clicks }) => clicks);
  const week = timeIn(PLAIN, view('range=7d'));
  assert.deepEqual([week.sums.total_clicks, clicksOf(week.days), clicksOf(week.before)], [70, [53, 54, 55, 56, 57, 58, 59], [46, 47, 48, 49, 50, 51, 52]]);
  const month = timeIn(PLAIN, view(''));
  assert.deepEqual([month.sums.total_clicks, month.days.length, month.before.length], [300, 30, 30]);
  const own = timeIn(PLAIN, view(OWN));
  assert.deepEqual([own.sums.total_clicks, own.sums.total_clicks_before, clicksOf(own.days), clicksOf(own.before)], [141, 132, [46, 47, 48], [43, 44, 45]]);
  const year = timeIn(YEAR, view('range=12m'), YEAR_BEFORE);
  assert.deepEqual([year.sums.total_clicks, year.sums.total_clicks_before, year.days.length, year.before.length, year.covers], [900, 400, 2, 2, { clicks: 1, of: 2 }]);
});

test('a day that is not over is compared with no whole one', () => {
  const { sums, before } = timeIn(PLAIN, view('range=today'));
  assert.deepEqual([sums.total_clicks, sums.total_clicks_before, before.length], [59, null, 1]);
  assert.equal(timeIn(PLAIN, view('range=yesterday')).sums.total_clicks_before, 57);
});

test('a chart has a line of the time before as soon as that is known', () => {
  const labels = (overview, text, past) => chartOf(overview, view(text), past).series.map(({ label }) => label);
  assert.deepEqual(labels(PLAIN, 'range=7d'), ['Human clicks', 'All clicks', 'The previous 7 days']);
  assert.deepEqual(labels(PLAIN, OWN).length, 3);
  assert.deepEqual(labels(YEAR, 'range=12m'), ['Human clicks', 'All clicks']);
  assert.deepEqual(labels(YEAR, 'range=12m', YEAR_BEFORE), ['Human clicks', 'All clicks', 'The previous 12 months']);
});

test('days of a chart are those of UTC, and the last one is not over', () => {
  const chart = chartOf(PLAIN, view('range=7d'));
  const names = chart.times.map((_, at) => nameAt(chart, at));
  const utc = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
  assert.deepEqual(names.slice(-2), [`${utc.format(Date.parse('2026-11-13'))} UTC`, `${utc.format(Date.parse('2026-11-14'))} UTC, so far`]);
  const past = chartOf(PLAIN, view(OWN));
  assert.deepEqual([past.running, nameAt(past, 2).endsWith(' UTC')], [undefined, true]);
});

test('days are counted by weeks and months, whose clicks they are', () => {
  const chart = chartOf(PLAIN, view('range=own&from=2026-09-16&to=2026-11-14&interval=month'));
  assert.deepEqual([chart.unit, chart.running, chart.series[1].values], ['month', 2, [105, 930, 735]]);
  assert.deepEqual(view('range=7d&interval=week').units, ['day']);
  assert.deepEqual([view('interval=hour').unit, view('interval=week').unit, view('range=today').unit], ['day', 'week', 'day']);
});

test('top links are those of the range', () => {
  assert.deepEqual([hasTopLinks(PLAIN, view('range=7d')), hasTopLinks(PLAIN, view('')), hasTopLinks(YEAR, view('range=12m'))], [true, false, true]);
});

test('nearly all clicks are not called all', () => {
  assert.equal(wordsOfCovers(null), '');
  assert.equal(wordsOfCovers({ clicks: 0, of: 0 }), '');
  assert.match(wordsOfCovers({ clicks: 97, of: 100 }), /with 97% of all clicks\.$/);
  assert.match(wordsOfCovers({ clicks: 99_999, of: 100_000 }), /with 99\.9% of all clicks\.$/);
});

test('a page of a tag is about the same time and audience', () => {
  const query = new URLSearchParams('range=own&from=2026-11-01&to=2026-11-03&interval=week&audience=bot&audience=prefetch&table=1');
  assert.equal(href(['tags', 'x'], keptOf(query)), '#/w/fjord/tags/x?range=own&from=2026-11-01&to=2026-11-03&interval=week&audience=bot&audience=prefetch');
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
