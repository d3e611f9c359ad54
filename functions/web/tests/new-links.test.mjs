import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

process.env.TZ = 'Europe/Zurich';
const { cellsOf, textOf, unclearLines, withCodes } = await import('../app/parts/new-links/reading.js');
const { cellOf, doublesOf, haveCampaigns, mistakesOf, momentOf, newLinkOf, sheetOf, textOfSheet, withCell, withField } = await import('../app/parts/new-links/sheet.js');
const { MADE_HEAD, tableOfMade } = await import('../app/parts/new-links/made.js');

const read = (text) => {
  const sheet = sheetOf(text);
  return sheet.rows.map((row) => [row.id, cellOf(sheet, row, 'url'), cellOf(sheet, row, 'custom_code')]);
};
const fieldsOf = (text) => sheetOf(text).columns.map(({ field }) => field);
const mistakes = (text) => [...mistakesOf(sheetOf(text))];
const FOR_ALL = { tags: [], campaign: {}, isFresh: false };
const bodies = (text, all = {}) => {
  const sheet = sheetOf(text);
  return sheet.rows.map((row) => JSON.parse(JSON.stringify(newLinkOf(sheet, row, { ...FOR_ALL, ...all }))));
};

test('each line is a URL, and behind a tab or two spaces a code', () => {
  const text = 'https://example.com/a\tsummer\r\n\r\n  example.com/b  \nhttps://example.com/c\t\t\rhttps://example.com/d  winter\n\t\n';

  assert.deepEqual(read(text), [
    [1, 'https://example.com/a', 'summer'],
    [2, 'example.com/b', ''],
    [3, 'https://example.com/c', ''],
    [4, 'https://example.com/d', 'winter'],
  ]);
  assert(!sheetOf(text).isTable);
  assert.deepEqual(mistakes(text), []);
  assert.deepEqual(sheetOf(' \n\t\n').rows, []);
  assert.equal(bodies(text)[1].url, 'https://example.com/b');
});

test('what can’t be sent is said by row and column', () => {
  const text = ['https://example.com/fine', 'nonsense', 'https://example.com/a b', 'javascript:alert(1)', 'https://example.com/c\tab', 'https://مثال.example/e'].join('\n');

  const found = mistakes(text);

  assert.deepEqual(found.map(([id, errors]) => [id, ...Object.keys(errors)]), [[2, 'url'], [3, 'url'], [4, 'url'], [5, 'custom_code']]);
  assert.match(found[0][1].url, /starts with http/);
  assert.match(found[1][1].url, /can’t contain spaces/);
  assert.match(found[3][1].custom_code, /^Use 4 to 20 characters/);
  const dates = mistakes('url\texpires\nhttps://example.com/\tsoon\nhttps://example.com/\t2020-01-01\nhttps://example.com/\t2126-01-01\n\t2126-01-01');
  assert.deepEqual(dates, [[1, { expires_at: 'Enter a date such as 2027-03-31.' }], [2, { expires_at: 'Choose a time in the future.' }], [4, { url: 'Enter a URL.' }]]);
});

test('a code stands once in any case, and a URL as often as wanted', () => {
  assert.deepEqual(mistakes('https://example.com/a\tsummer\n\nhttps://example.com/b\tSummer\nhttps://example.com/a\nhttps://example.com/a'), [[2, { custom_code: 'Row 1 also has the code Summer.' }]]);
});

test('columns of a spreadsheet are known by their heads', () => {
  const head = ['Nr', 'Campaign name', 'Destination URL', 'Slug', 'UTM_Source', 'utm-medium', 'Link Title', 'Tags', 'Expiration date', 'Term', 'utm content', 'Source'];
  const row = ['1', 'spring', 'https://example.com/a?x=1', 'spring-a', 'news letter', 'email', 'A title', 'one, two', '2126-03-31', 'shoes', 'top', 'unused'];
  const text = [head, row].map((cells) => cells.join('\t')).join('\n');

  assert.deepEqual(fieldsOf(text), ['', 'utm_campaign', 'url', 'custom_code', 'utm_source', 'utm_medium', 'title', 'tags', 'expires_at', 'utm_term', 'utm_content', '']);
  assert.deepEqual(bodies(text), [{
    url: 'https://example.com/a?x=1&utm_source=news%20letter&utm_medium=email&utm_campaign=spring&utm_term=shoes&utm_content=top',
    custom_code: 'spring-a',
    title: 'A title',
    tags: ['one', 'two'],
    expires_at: '2126-03-31T21:59:59.999Z',
  }]);
});

test('columns without heads are known by what they have', () => {
  assert.deepEqual(fieldsOf('A spring sale\thttps://example.com/a\tspring-a\t2126-01-01\tone|two\nMore\tb.example\tautumn\t31.12.2126\tthree'), ['title', 'url', 'custom_code', 'expires_at', 'tags']);
  assert.deepEqual(fieldsOf('Nachricht;Adresse\nEins;https://example.com/a'), ['', 'url']);
  assert.deepEqual(fieldsOf('https://example.com/a\tA spring sale\nhttps://example.com/b\tMore'), ['url', 'title']);
});

test('quoted cells have delimiters, quotes and line breaks', () => {
  assert.deepEqual(cellsOf('a,"b, ""c""\nd",e\r\n\r\n"f",g h,\n', ','), [['a', 'b, "c"\nd', 'e'], ['f', 'g h', '']]);
  assert.deepEqual(cellsOf('5" screen;"x"y', ';'), [['5" screen', '"x"y']]);
  for (const delimiter of [',', ';', '\t']) {
    const text = [['url', 'title'], ['https://example.com/a', '"One, two; three"']].map((row) => row.join(delimiter)).join('\r\n');
    assert.deepEqual(bodies(`\uFEFF${text}`), [{ url: 'https://example.com/a', title: 'One, two; three' }], delimiter);
  }
});

test('a table that this application has saved is read back', async () => {
  const { csvOf } = await import('../app/parts/download/csv.js');
  const text = csvOf(['short_url', 'short_code', 'original_url', 'title', 'tags', 'total_clicks'], [['https://go.example/TVFpv3d', 'x5y7z', 'https://example.com/a,b', '=1+1', '-a|b', 7]]);
  assert.deepEqual(bodies(text), [{ url: 'https://example.com/a,b', custom_code: 'x5y7z', title: '=1+1', tags: ['-a', 'b'] }]);
  // Another link can't have a code that was generated.
  assert.deepEqual(fieldsOf('short_code,original_url\nE6B2sD9,https://example.com/a'), ['', 'url']);
});

test('URLs with commas are no table, and those that may have a code are asked for', () => {
  const maps = 'https://maps.example/@47.1,8.5,12z\nhttps://maps.example/@48.1,8.5,14z';
  assert.deepEqual([read(maps).map(([, url]) => url), unclearLines(maps)], [maps.split('\n'), []]);
  const text = 'https://example.com/a,my-code\nhttps://example.com/b\nexample.com/c; other_1\nhttps://example.com/d,ab';
  assert.deepEqual(unclearLines(text), [{ url: 'https://example.com/a', code: 'my-code' }, { url: 'example.com/c', code: 'other_1' }]);
  assert.deepEqual(read(text).slice(0, 2), [[1, 'https://example.com/a,my-code', ''], [2, 'https://example.com/b', '']]);
  assert.deepEqual(read(withCodes(text)).map(([, url, code]) => [url, code]), [['https://example.com/a', 'my-code'], ['https://example.com/b', ''], ['example.com/c', 'other_1'], ['https://example.com/d,ab', '']]);
});

test('a day ends with its evening, and a time is the visitor’s', () => {
  assert.equal(momentOf('2027-07-01'), '2027-07-01T21:59:59.999Z');
  assert.equal(momentOf('1.7.2027'), '2027-07-01T21:59:59.999Z');
  assert.equal(momentOf('2027-07-01 12:30'), '2027-07-01T10:30:00.000Z');
  assert.equal(momentOf('2027-07-01T12:30:00Z'), '2027-07-01T12:30:00.000Z');
  assert.equal(momentOf('2027-07-01T12:30:00+05:30'), '2027-07-01T07:00:00.000Z');
  for (const text of ['03/04/2027', '2027-02-30', '2027-02-30 10:00', 'soon', '', '2027']) assert.equal(momentOf(text), '', text);
});

test('what holds for all rows is added to what each one has', () => {
  const text = 'url\ttags\tutm_source\nhttps://example.com/a?utm_source=old&utm_medium=old\tSpring\t\nhttps://example.com/b\t\town';
  const campaign = { utm_source: 'letter', utm_medium: '' };
  assert.deepEqual(bodies(text, { tags: ['spring', 'sale'], campaign, isFresh: true }), [
    { url: 'https://example.com/a?utm_medium=old&utm_source=letter', tags: ['Spring', 'sale'], reuse: false },
    { url: 'https://example.com/b?utm_source=own', tags: ['spring', 'sale'], reuse: false },
  ]);
  assert(haveCampaigns(sheetOf(text), {}));
  const plain = sheetOf('https://example.com/a');
  assert.deepEqual([haveCampaigns(plain, {}), haveCampaigns(plain, { utm_term: '' }), haveCampaigns(plain, campaign)], [false, false, true]);
});

test('a column is something once, and the rows become text again', () => {
  const sheet = sheetOf('url\tnotes\tlanding\nhttps://example.com/a\tsays "hi"\thttps://example.com/b');
  const both = withField(withCell(sheet, 1, 1, '"quoted"\tcell'), 2, 'url');
  assert.deepEqual([[...doublesOf(sheet)], [...doublesOf(both)]], [[], ['url']]);
  const other = withField(both, 0, '');
  assert.deepEqual(sheet.columns[0].field, 'url');
  const again = sheetOf(textOfSheet(other));
  assert.equal(cellOf(again, again.rows[0], 'description'), '"quoted"\tcell');
  const lines = 'https://example.com/a\tsummer\nhttps://example.com/b';
  assert.equal(textOfSheet(sheetOf(lines)), lines);
});

test('a file is read in the encoding that it has', () => {
  const bytes = (...list) => new Uint8Array(list).buffer;
  assert.equal(textOf(new TextEncoder().encode('Zürich').buffer), 'Zürich');
  assert.equal(textOf(bytes(0x5a, 0xfc)), 'Zü');
  assert.equal(textOf(bytes(0xff, 0xfe, 0x5a, 0, 0xfc, 0)).replace('\uFEFF', ''), 'Zü');
  assert.equal(textOf(bytes()), '');
});

test('the file of results has all rows that were sent', () => {
  const row = { id: 1, url: 'https://example.com/a', code: '', title: 'A' };
  const link = { short_url: 'https://go.example/abcd', short_code: 'abcd', original_url: 'https://example.com/a' };
  const table = tableOfMade([{ ...row, link }, { ...row, link: { ...link, reused: true } }, { ...row, code: 'taken', why: 'This code is taken.' }]);
  assert.deepEqual(table.map((cells) => [cells.length === MADE_HEAD.length, cells[2], cells[4], cells[5]]), [[true, 'abcd', 'created', ''], [true, 'abcd', 'reused', ''], [true, 'taken', 'failed', 'This code is taken.']]);
});

test('a thousand rows are read and checked at once', () => {
  const text = ['url\ttitle\tutm_source', ...Array.from({ length: 1_000 }, (_, at) => `https://example.com/${at}\tTitle ${at}\tletter`)].join('\n');
  const begin = performance.now();
  assert.equal(mistakesOf(sheetOf(text)).size, 0);
  assert(performance.now() - begin < 500);
});
