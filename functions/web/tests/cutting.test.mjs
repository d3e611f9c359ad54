import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { cutterOf } = await import('../app/parts/import/cutting.js');

/** The pieces of a file that is read in chunks of so many letters. */
function cut(text, chunk = 7) {
  const cutter = cutterOf(text);
  const pieces = [];
  for (let at = 0; at < text.length; at += chunk) pieces.push(...cutter.push(text.slice(at, at + chunk)));
  return [...pieces, ...cutter.end()];
}

test('a table is cut between its rows, each piece with the header', () => {
  const rows = Array.from({ length: 1_201 }, (_, row) => `c${row},https://example.com/${row},"two\nlines, ""${row}"""\n`);

  const pieces = cut(`\uFEFFcode,url,title\n${rows.join('')}`, 1_000);

  assert.deepEqual(pieces.map(({ lines, firstLine }) => [lines.length, firstLine]), [[500, 1], [500, 1_001], [201, 2_001]]);
  assert.ok(pieces.every(({ text }) => text.startsWith('code,url,title\nc')));
  assert.equal(pieces.map(({ text }) => text.slice('code,url,title\n'.length)).join(''), rows.join(''));
});

test('a quotation mark that is missing costs one row', () => {
  const [piece] = cut('code,url\na,"https://a.example/"\n\nb,"open\nc,https://c.example/');

  assert.deepEqual(piece, { text: 'code,url\na,"https://a.example/"\n\nb,"open\nc,https://c.example/', firstLine: 1, lines: [2, 4, 5], doubtful: [], damaged: [], mayBeOther: false });
});

test('a list of objects is cut between them, wherever it is', () => {
  const objects = Array.from({ length: 501 }, (_, at) => `{"slug": "c${at}", "url": "https://example.com/}]${at}", "tags": ["a", {"b": "\\"{"}]}`);
  const document = `{"version": "1.0", "links": [\n${objects.join(',\n')}\n], "count": 501}`;

  const pieces = cut(document);

  assert.deepEqual(pieces.map(({ lines, firstLine }) => [lines.length, firstLine]), [[500, 2], [1, 502]]);
  assert.deepEqual(pieces.flatMap(({ text }) => JSON.parse(text)), objects.map((object) => JSON.parse(object)));
  assert.equal(JSON.parse(pieces[0].text)[3].slug, pieces[0].text.split('\n')[3].slice(10, 12));
});

test('what has names instead of places is a list, and a single object is one', () => {
  const [yourls] = cut('{"links": {"link_1": {"url": "a"},\n "link_2": {"url": "b"}}, "stats": {"total": "2"}}');
  assert.deepEqual(JSON.parse(yourls.text), [{ url: 'a' }, { url: 'b' }]);
  const [single] = cut('{"url": "https://example.com/"}');
  assert.deepEqual(JSON.parse(single.text), [{ url: 'https://example.com/' }]);
});

test('half a document has its first half and what is left of the next object', () => {
  const [piece] = cut('[{"url": "a"}, {"url": "b');

  assert.deepEqual([piece.lines.length, piece.text], [2, '[{"url": "a"},{"url": "b]']);
});

test('a dump is cut between its rows, each piece with the columns of its table', () => {
  const table = 'CREATE TABLE `y_url` (\n  `keyword` text,\n  `url` text\n) DEFAULT CHARSET=latin1;\n';
  const options = "INSERT INTO `y_options` VALUES (1,'a;b (c)'),(2,'d');\n";
  const rows = Array.from({ length: 501 }, (_, at) => `('c${at}','it\\'s; ''(x)''')`);

  const pieces = cut(`${table}${options}INSERT INTO \`y_url\` VALUES ${rows.join(',\n')};\nINSERT INTO \`y_log\` VALUES (1,'2014-01-01');`);

  assert.deepEqual(pieces.map((piece) => [piece.lines.length, piece.firstLine]), [[500, 5], [1, 505], [1, 507]]);
  assert.ok(pieces[1].text.startsWith('CREATE TABLE `y_url` ( `keyword` text, `url` text ) DEFAULT CHARSET=latin1;\nINSERT INTO `y_url` VALUES (\'c500\''), pieces[1].text);
  assert.equal(pieces[2].text, "INSERT INTO `y_log` VALUES (1,'2014-01-01');");
});

test('a table of a dump that has neither links nor clicks is left out', () => {
  const options = 'CREATE TABLE `yourls_options` (\n  `option_id` int,\n  `option_value` text\n) ENGINE=InnoDB;\nINSERT INTO `yourls_options` VALUES (1,\'a\'),(2,\'b\');\n';

  const pieces = cut(`${options}INSERT INTO \`yourls_url\` VALUES ('a','https://a.example/'),('b','https://b.example/');`);

  assert.deepEqual(pieces.map(({ lines }) => lines), [[6, 6]]);
});

test('what comes after a list of objects is none of them', () => {
  const pieces = cut('{"links": [{"url": "a"}], "page": {"next": "b"}, "more": [{"url": "c"}]}');

  assert.deepEqual(pieces.map(({ text }) => JSON.parse(text)), [[{ url: 'a' }]]);
});

test('records that equal each other stay together', () => {
  const row = (at) => `c,2026-01-01 00:${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}\n`;
  const before = Array.from({ length: 498 }, (_, at) => row(at));

  const pieces = cut(`code,time\n${before.join('')}${row(498).repeat(5)}${row(499)}`, 1_000);

  assert.deepEqual(pieces.map(({ lines, firstLine }) => [lines.length, firstLine]), [[498, 1], [6, 499]]);
  assert.equal(pieces[1].text, `code,time\n${row(498).repeat(5)}${row(499)}`);
  // More of them than a request has are cut anyway.
  assert.deepEqual(cut(`code,time\n${row(7).repeat(501)}`, 1_000).map(({ lines }) => lines.length), [500, 1]);
});

test('equal records stay together with others between them, and without a newline', () => {
  const before = (count) => Array.from({ length: count }, (_, at) => `c${at},2026-01-01 00:00:00\n`).join('');
  const [a, b] = ['a,2026-01-01 00:00:01\n', 'b,2026-01-01 00:00:01\n'];

  assert.deepEqual(cut(`code,time\n${before(499)}${a}${b}${a}`, 1_000).map(({ lines }) => lines.length), [499, 3]);
  assert.deepEqual(cut(`code,time\n${before(498)}${b}${a}${b}${a.trim()}`, 1_000).map(({ lines }) => lines.length), [498, 4]);
  assert.deepEqual(cut(`code,time\n${before(499)}${a}${a.trim()}`, 1_000).map(({ lines }) => lines.length), [499, 2]);
  // However they are mixed, a request has at least half of the rows that it may have.
  assert.deepEqual(cut(`code,time\n${(a + b).repeat(600)}`, 1_000).map(({ lines }) => lines.length), [500, 500, 200]);
});

test('where a file is cut does not depend on how it is read', () => {
  const rows = Array.from({ length: 1_700 }, (_, at) => `c${(at * 7) % 97},https://example.com/${'x'.repeat((at * 31) % 400)}\n`).join('');

  assert.deepEqual(cut(`code,url\n${rows}`, 1_000), cut(`code,url\n${rows}`, 65_536));
});

test('a dump with a statement for each row is cut as one with many', () => {
  const insert = (at) => `INSERT INTO \`y_url\` (\`keyword\`, \`url\`) VALUES ('c${at}', 'https://example.com/${at}');\n`;
  const other = "INSERT INTO `y_options` VALUES (1,'a');\n";

  const pieces = cut(Array.from({ length: 1_001 }, (_, at) => `${insert(at)}${at % 300 ? '' : other}`).join(''), 1_000);

  assert.deepEqual(pieces.map(({ lines }) => lines.length), [500, 500, 1]);
  assert.equal(pieces[2].text, "INSERT INTO `y_url` (`keyword`, `url`) VALUES ('c1000', 'https://example.com/1000');");
  assert.deepEqual(pieces[0].lines.slice(0, 3), [1, 3, 4]);
});

test('objects without a list are cut one by one', () => {
  const object = (at) => `{"url": "https://example.com/${at}", "tags": [{"name": "a"}]}`;

  const pieces = cut(Array.from({ length: 501 }, (_, at) => object(at)).join('\n'), 1_000);

  assert.deepEqual(pieces.map(({ lines, firstLine }) => [lines.length, firstLine]), [[500, 1], [1, 501]]);
  assert.equal(pieces[1].text, `[${object(500)}]`);
  // The last of them is damaged.
  assert.deepEqual(cut(`${object(0)}\n${object(1).slice(0, -5)}`).map(({ lines }) => lines), [[1, 2]]);
});

test('pages that follow each other are all read', () => {
  const urls = (text) => cut(text).flatMap((piece) => JSON.parse(piece.text).map(({ url }) => url));

  assert.deepEqual(urls('[{"url": "a"}][]\n[{"url": "b"}, {"url": "c"}]'), ['a', 'b', 'c']);
  assert.deepEqual(urls('{"links": [{"url": "a"}], "next": "]}"}{"count": 1, "data": {"links": [{"url": "b"}]}}\n{"links": {"x": {"url": "c"}}}'), ['a', 'b', 'c']);
});

test('a cell of two thousand lines is one', () => {
  const notes = (lines) => `a,https://a.example/,"${'A line of a note, as long as they are.\n'.repeat(lines)}"\n`;

  assert.deepEqual(cut(`code,url,note\n${notes(2_000)}b,https://b.example/,\n`, 65_536).map(({ lines }) => lines), [[2, 2_003]]);
  // What has no end costs its line, and what follows is read.
  const open = cut(`code,url,note\na,https://a.example/,"open\n${'b,https://b.example/,c\n'.repeat(3_000)}`, 65_536);
  assert.equal(open.flatMap(({ lines }) => lines).length, 3_001);
});

test('a record with a damaged URL is left out, and another damaged one is named', () => {
  const [piece] = cut('code,url,title\na,https://a.example/f\uFFFDr,A\nb,https://b.example/,"B\uFFFD"\nc,https://c.example/,C\n');

  assert.deepEqual(piece, { text: 'code,url,title\nb,https://b.example/,"B\uFFFD"\nc,https://c.example/,C\n', firstLine: 2, lines: [3, 4], doubtful: [0], damaged: [2], mayBeOther: false });
  assert.deepEqual(cut('[{"url": "https:\\/\\/a.example\\/\uFFFD"}, {"title": "\uFFFD", "url": "https://b.example/"}]').map(({ lines, damaged }) => [lines, damaged]), [[[1], [1]]]);
});

test('a piece fits into a request, whatever its letters are', () => {
  const rows = Array.from({ length: 400 }, (_, at) => `c${at},https://example.com/,"${'\u0001鏈""'.repeat(200)}"\n`);

  const pieces = cut(`code,url,title\n${rows.join('')}`, 10_000);

  assert.equal(pieces.reduce((sum, { lines }) => sum + lines.length, 0), 400);
  for (const { text } of pieces) assert.ok(new TextEncoder().encode(JSON.stringify({ text })).length < 262_144);
});

test('another sign than the delimiter of a table is part of a cell', () => {
  const [piece] = cut('code,url,title\na,https://a.example/,x;"y\nb,https://b.example/,z\n');

  assert.deepEqual(piece.lines, [2, 3]);
});

test('what never ends is read without waiting for all of it', () => {
  const cutter = cutterOf('[{');
  let pieces = cutter.push('[{"url": "a"}, {"url": "');
  for (let at = 0; at < 40; at += 1) pieces = [...pieces, ...cutter.push('x'.repeat(65_536))];
  pieces = [...pieces, ...cutter.end()];

  assert.deepEqual(pieces.map(({ lines }) => lines.length), [2]);
  assert.ok(pieces[0].text.length < 2_000);
});

test('ten megabytes of any kind are cut within seconds', () => {
  const quoted = `a,https://example.com/,"${'""'.repeat(2_000)}"\n`;
  const open = `a,"open\nb,https://b.example/${'x'.repeat(80)}\n`;
  const behind = `a,"b"${'c'.repeat(60)}\n`;
  const single = "INSERT INTO y_url VALUES ('a','https://example.com/');\n";
  for (const text of [open.repeat(90_000), behind.repeat(150_000), single.repeat(180_000), `${'{"url": "https://example.com/"}\n'.repeat(300_000)}`, `code,url,title\n${quoted.repeat(2_500)}`, `[${'{"url": "https://example.com/"},'.repeat(300_000)}]`, `INSERT INTO y_url VALUES ${"('a','https://example.com/'),".repeat(300_000)}`]) {
    const start = performance.now();
    assert.ok(cut(text, 65_536).length > 1);
    assert.ok(performance.now() - start < 10_000);
  }
});
