import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { ApiError } = await import('../app/core/api.js');
const { begin, blobOf, readOn } = await import('../app/parts/export/reading.js');

/** A file of pages, read as the component does. */
async function exported(format, list, ...pages) {
  const asked = [];
  const read = async (query) => {
    asked.push(new URLSearchParams(query).get('after'));
    const page = pages.shift();
    if (page instanceof Error) throw page;
    return { body: page, next: pages.length > 0 ? new URLSearchParams({ after: `c${pages.length}` }) : undefined };
  };
  const wanted = { name: 'Links', list, format, read };
  const reading = begin(wanted);
  const told = [];
  const run = () => readOn(wanted, reading, { signal: new AbortController().signal, tell: (seconds) => told.push(seconds) });
  return { asked, told, run, text: () => blobOf(wanted, reading).text() };
}

test('the pages of a table are one table', async () => {
  const { run, text, asked } = await exported('csv', 'links', 'code,title\r\na,"1\r\n2"\r\n', 'code,title\r\n', 'code,title\r\nb,\r\n');

  await run();

  assert.equal(await text(), 'code,title\r\na,"1\r\n2"\r\nb,\r\n');
  assert.deepEqual(asked, [null, 'c2', 'c1']);
});

test('the pages of a document are one document', async () => {
  const page = (links, next_cursor) => JSON.stringify({ version: 1, links, next_cursor, has_more: next_cursor !== null });
  const { run, text } = await exported('json', 'links', page([{ a: '],"' }], 'c'), page([], 'd'), page([{ b: 2 }], null));

  await run();

  assert.deepEqual(JSON.parse(await text()), { version: 1, links: [{ a: '],"' }, { b: 2 }] });
  const empty = await exported('json', 'links', page([], null));
  await empty.run();
  assert.deepEqual(JSON.parse(await empty.text()), { version: 1, links: [] });
});

test('an export waits as long as the API wants, and goes on where it failed', async () => {
  const busy = new ApiError('problem', 'wait', { status: 429, retryAfter: 1 });
  const { run, text, told, asked } = await exported('csv', 'links', 'a\r\n1\r\n', busy, new ApiError('offline', 'gone'), 'a\r\n2\r\n');

  await assert.rejects(run());
  await run();

  assert.equal(await text(), 'a\r\n1\r\n2\r\n');
  assert.deepEqual(told, [undefined, 1, undefined]);
  assert.deepEqual(asked, [null, 'c3', 'c3', 'c3']);
});
