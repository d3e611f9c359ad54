import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import './browser.mjs';

const { filterOf, filterWithout, toggled } = await import('../app/pages/link/asked.js');
const { KINDS, rowsOf } = await import('../app/parts/panels/kinds.js');
const { audienceOf } = await import('../app/parts/times/audience.js');

const kind = (name) => KINDS.find((one) => one.name === name);

test('an address asks by the names that the API has', () => {
  const document = readFileSync(new URL('../../../docs/openapi.yaml', import.meta.url), 'utf8');
  for (const { name } of KINDS) assert.match(document, new RegExp(`^    Of\\w+:(?: \\{ |\\n      )name: ${name}(?:, |\\n      )<<: \\*filter\\b`, 'm'));
});

test('an address asks for values of kinds, of which several are alternatives', () => {
  const query = new URLSearchParams('range=7d&country=NO&country=SE&country=NO&browser=&referer=(none)');
  const filter = filterOf(query);
  assert.deepEqual(filter, { referer: ['(none)'], country: ['NO', 'SE'] });
  assert.deepEqual(filterWithout(filter, 'country'), { referer: ['(none)'] });
  assert.deepEqual([toggled(filter, 'country', 'NO'), toggled(filter, 'country', 'DE'), toggled(filter, 'os', 'iOS')], [['SE'], ['NO', 'SE', 'DE'], ['iOS']]);
});

test('direct visits are counted among the referrers, and all others come last', () => {
  const answer = { total_clicks: 100, referers: [{ referer: 'https://news.example/today?id=7', count: 20 }, { referer: '(other)', count: 50 }] };
  const rows = rowsOf(kind('referer'), answer, ['(none)']);
  assert.deepEqual(rows.map(({ name, count, isChosen }) => [name, count, isChosen]), [['Direct', 30, true], ['news.example/today', 20, false], ['Other', 50, false]]);
});

test('a country that is not known can be asked for', () => {
  const rows = rowsOf(kind('country'), { countries: [{ country: 'NO', count: 2 }, { country: null, count: 5 }] });
  assert.deepEqual(rows.map(({ value, name, count }) => [value, name, count]), [['unknown', 'Unknown', 5], ['NO', 'Norway', 2]]);
});

test('humans are meant unless the address says otherwise', () => {
  const of = (text) => audienceOf(new URLSearchParams(text));
  assert.deepEqual(['', 'audience=human', 'audience=bot', 'audience=bot&audience=prefetch', 'audience=human&audience=bot&audience=prefetch', 'audience=x'].map(of), ['people', 'people', 'bots', 'bots', 'all', 'people']);
});
