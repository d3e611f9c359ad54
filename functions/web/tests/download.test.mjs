import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answering } from './browser.mjs';

const { call } = await import('../app/core/api.js');
const { csvOf, joined, withSoFar } = await import('../app/parts/download/csv.js');
const { crc32, zipOf } = await import('../app/parts/download/zip.js');

test('parts of a table are joined below one head', () => {
  assert.equal(joined(['at,who\n1,a\n', 'at,who\n2,b\n', 'at,who\n']), 'at,who\n1,a\n2,b\n');
  assert.equal(joined(['at,who\r\n1,a', 'at,who\r\n2,b']), 'at,who\r\n1,a\n2,b');
  assert.equal(joined(['at,who\n']), 'at,who\n');
  assert.equal(joined([]), '');
});

test('a table is written as the API writes them', () => {
  assert.equal(csvOf(['country', 'clicks'], [['NO', 3], ['a, "b"', 1]]), 'country,clicks\r\nNO,3\r\n"a, ""b""",1\r\n');
  const written = (/** @type {string | number} */ cell) => csvOf(['value'], [[cell]]).slice('value\r\n'.length, -'\r\n'.length);
  for (const formula of ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', '＋1', '－1', '＠SUM(A1)', "'=1"]) {
    assert.equal(written(formula), `'${formula}`);
    for (const before of [';', '\t', 'a;']) assert.equal(written(before + formula), `${before}'${formula}`);
    assert.equal(written(`a;"${formula}`), `"a;""'${formula}"`);
    for (const before of ['\n', '\r']) assert.equal(written(before + formula), `"${before}'${formula}"`);
  }
  for (const plain of ['1-1', '', 'Firefox', 'X11; Linux', -1]) assert.equal(written(plain), String(plain));
});

test('a file of clicks over time says which day or hour is not over', () => {
  const days = 'period,clicks,human_clicks\r\n2026-11-11,12,9\r\n2026-11-12,1,1\r\n';
  assert.equal(withSoFar(days, Date.parse('2026-11-12') / 1000), 'period,clicks,human_clicks,note\r\n2026-11-11,12,9,\r\n2026-11-12,1,1,so far\r\n');
  assert.equal(withSoFar('period,clicks\r\n2026-11-12T14:00:00Z,3', Date.parse('2026-11-12T14:00:00Z') / 1000), 'period,clicks,note\r\n2026-11-12T14:00:00Z,3,so far');
  assert.equal(withSoFar('period,clicks\r\n2026-11-12,3\r\n'), 'period,clicks,note\r\n2026-11-12,3,\r\n');
});

test('an answer says where its next part is', async () => {
  answering({ body: 1, headers: { link: '</api/stats/a/clicks?format=csv&after=x%2By>; rel="next"' } }, { body: 2 });
  const path = { code: 'a' };
  const first = await call('GET /api/stats/{code}/clicks', { path, asText: true, withNext: true });
  assert.equal(first.body, '1');
  assert.equal(first.next.get('after'), 'x+y');
  assert.deepEqual(await call('GET /api/stats/{code}/clicks', { path, query: first.next, asText: true, withNext: true }), { body: '2', next: undefined });
});

test('an archive has its files as they are, with their sums, names and times', async () => {
  assert.equal(crc32(new TextEncoder().encode('123456789')), 0xcbf43926);
  const at = new Date(2026, 10, 30, 14, 5, 8);
  const archive = zipOf([{ name: 'a.csv', content: 'x,y\r\n' }, { name: 'größe.csv', content: new Uint8Array([0, 255]) }], at);
  const view = new DataView(await archive.arrayBuffer());
  const end = view.byteLength - 22;
  assert.deepEqual([archive.type, view.getUint32(end, true), view.getUint16(end + 10, true)], ['application/zip', 0x06054b50, 2]);

  const first = view.getUint32(end + 16, true);
  assert.equal(first + view.getUint32(end + 12, true), end, 'the list of files is as long as it says');
  const second = first + 46 + 'a.csv'.length + view.getUint16(first + 30, true);
  const entries = [first, second].map((entry) => {
    const length = view.getUint16(entry + 28, true);
    const name = new TextDecoder().decode(new Uint8Array(view.buffer, entry + 46, length));
    const header = view.getUint32(entry + 42, true);
    const content = new Uint8Array(view.buffer, header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true), view.getUint32(entry + 24, true));
    assert.equal(view.getUint32(header, true), 0x04034b50);
    assert.equal(view.getUint32(entry + 16, true), crc32(content));
    assert.equal(view.getUint16(entry + 8, true), 0x0800, 'names are UTF-8');
    assert.deepEqual([view.getUint16(entry + 14, true), view.getUint16(entry + 12, true)], [(46 << 9) | (11 << 5) | 30, (14 << 11) | (5 << 5) | 4]);
    assert.equal(view.getUint32(entry + 46 + length + 5, true), at.getTime() / 1000, 'and in UTC');
    return [name, [...content]];
  });
  assert.deepEqual(entries, [['a.csv', [...new TextEncoder().encode('x,y\r\n')]], ['größe.csv', [0, 255]]]);
  assert.equal(zipOf([]).size, 22);
});
