import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

const { filterOf } = await import('../app/pages/links/filter.js');
const { csvOf } = await import('../app/parts/download/csv.js');
const { begin, LINKS_HEAD, readOn, tableOfLinks } = await import('../app/parts/links-file/links.js');
const { newLinkOf, sheetOf } = await import('../app/parts/new-links/sheet.js');

const link = (short_code, more = {}) => ({ short_code, short_url: `https://go.example/${short_code}`, original_url: `https://example.com/${short_code}`, title: null, description: null, tags: [], created_at: '2026-11-21T16:41:12.105Z', expires_at: null, status: 'active', archived: false, total_clicks: 0, created_by: 'u1', ...more });
const page = (links, more = {}) => ({ body: { links, total: null, total_pages: null, next_cursor: null, ...more } });

async function readAll(query, ...answers) {
  const requests = answering(...answers);
  const filter = filterOf(new URLSearchParams(query));
  const reading = begin(filter);
  const told = [];
  await readOn(filter, reading, { signal: new AbortController().signal, tell: (seconds) => told.push(seconds ?? reading.links.size) });
  return { reading, told, queries: requests.map(({ url }) => new URL(url).searchParams) };
}

test('all links of a filter are read, page by page', async () => {
  const { reading, told, queries } = await readAll('q=sale&tag=a&archived=all&sort=oldest', page([link('aaaa')], { total: 2, next_cursor: 'c1' }), page([], { next_cursor: 'c2' }), page([link('aaaa'), link('bbbb')]));
  assert.deepEqual([...reading.links.keys()], ['aaaa', 'bbbb']);
  assert.deepEqual([told, reading.total], [[1, 1, 2], 2]);
  assert.deepEqual(queries.map((query) => [query.get('after'), query.get('search'), query.get('tag'), query.get('archived'), query.get('order'), query.get('per_page')]), [null, 'c1', 'c2'].map((after) => [after, 'sale', 'a', 'all', 'asc', '100']));
});

test('what comes too soon is waited for, and what fails goes on where it was', async () => {
  const busy = { status: 429, body: { code: 'rate_limited', detail: 'too much', status: 429 }, headers: { 'retry-after': '1', 'content-type': 'application/problem+json' } };
  const { told, queries } = await readAll('', page([link('aaaa')], { next_cursor: 'c1' }), busy, page([link('bbbb')]));
  assert.deepEqual(told, [1, 1, 1, 2]);
  assert.deepEqual(queries.map((query) => query.get('after')), [null, 'c1', 'c1']);

  const filter = filterOf(new URLSearchParams());
  const reading = begin(filter);
  const options = { signal: new AbortController().signal, tell: () => {} };
  answering(page([link('aaaa')], { next_cursor: 'c1' }), new Error('lost'));
  await assert.rejects(readOn(filter, reading, options));
  const requests = answering(page([link('bbbb')]));
  await readOn(filter, reading, options);
  assert.deepEqual([[...reading.links.keys()], requests.length], [['aaaa', 'bbbb'], 1]);
});

test('the order by clicks has numbered pages, and is made here where there are too many', async () => {
  const { queries } = await readAll('sort=clicks', page([link('aaaa')], { total_pages: 2 }), page([link('bbbb')], { total_pages: 2 }));
  assert.deepEqual(queries.map((query) => [query.get('page'), query.get('sort'), query.get('after')]), [['1', 'clicks', null], ['2', 'clicks', null]]);
  const refused = { status: 400, body: { code: 'invalid_request', detail: 'too many', status: 400 }, headers: { 'content-type': 'application/problem+json' } };
  const { reading, queries: others } = await readAll('sort=clicks', refused, page([link('aaaa', { total_clicks: 1 })], { next_cursor: 'c' }), page([link('bbbb', { total_clicks: 5 })]));
  assert.deepEqual([...reading.links.keys()], ['bbbb', 'aaaa']);
  assert.deepEqual(others.map((query) => [query.get('page'), query.get('sort')]), [['1', 'clicks'], [null, 'created_at'], [null, 'created_at']]);
});

test('a file of links is safe in spreadsheets, and can be read back', () => {
  const links = [link('spring', { title: '=1+1', description: 'a, "b"\nc', tags: ['-a', 'b c'], expires_at: '2126-03-31T21:59:59.999Z', external_id: '@1', total_clicks: null }), link('E6B2sD9', { total_clicks: 7 })];
  const text = csvOf(LINKS_HEAD, tableOfLinks(links));
  const [head, first] = text.split('\r\n');
  assert.match(head, /^short_url,short_code,original_url,title,description,tags,created_at,expires_at,/);
  assert.match(first, /,'=1\+1,"a, ""b""\nc",'-a\|b c,2026-11-21T16:41:12.105Z,2126-/);
  assert(!/(^|,)"?[=+\-@]/m.test(text));

  const sheet = sheetOf(text);
  const [made, other] = sheet.rows.map((row) => JSON.parse(JSON.stringify(newLinkOf(sheet, row, { tags: [], campaign: {}, isFresh: false }))));
  assert.deepEqual(made, { url: 'https://example.com/spring', custom_code: 'spring', title: '=1+1', description: 'a, "b"\nc', tags: ['-a', 'b c'], expires_at: '2126-03-31T21:59:59.999Z', external_id: '@1' });
  assert.equal(other.url, 'https://example.com/E6B2sD9');
});
