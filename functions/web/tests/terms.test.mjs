import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { usedOf } = await import('../app/core/lists.js');
const { statusIf } = await import('../app/parts/link-changes/link-changes.js');
const { attentionOf } = await import('../app/pages/notifications/attention.js');
const { ApiError } = await import('../app/core/api.js');
const { atItsField, termErrors, termsBody, termsOf } = await import('../app/parts/link-form/terms.js');
const { bodyOf, conditionOf, conditionWords, errorsOf, keyOf, newRule, newVariant, restOf, valuesOf } = await import('../app/parts/rules/routing.js');
const { isNamed, optionsFor } = await import('../app/parts/rules/named.js');
const { sentencesOf } = await import('../app/parts/history/sentences.js');

const HOUR_MS = 3_600_000;
const hence = (/** @type {number} */ hours) => new Date(Date.now() + hours * HOUR_MS).toISOString();

test('switching a link on or off gives the status that the API gives', () => {
  const link = (/** @type {string} */ status, valid_from = null) => /** @type {any} */ ({ status, valid_from });
  assert.deepEqual([statusIf(link('inactive'), true), statusIf(link('active'), false)], ['active', 'inactive']);
  assert.equal(statusIf(link('inactive', hence(1)), true), 'scheduled');
  assert.equal(statusIf(link('inactive', hence(-1)), true), 'active');
  for (const over of ['expired', 'exhausted', 'suspended', 'deleted']) assert.deepEqual([statusIf(link(over), true), statusIf(link(over), false)], [over, over]);
});

test('how much of a limit is used is said if there is one', () => {
  assert.equal(usedOf({ used: 37, max_clicks: 100 }), '37 of 100 used');
  // How often it was used may not be known.
  assert.equal(usedOf({ used: null, max_clicks: 5 }), 'limit of 5 clicks');
  assert.equal(usedOf({ used: 3, max_clicks: null }), '');
});

test('an exhausted link needs attention for a week or until newer news', () => {
  const told = (/** @type {string} */ event_type, /** @type {number} */ hours) => /** @type {any} */ ({ id: `${hours}`, event_type, short_code: 'tasting', status: 'sent', created_at: hence(-hours) });
  const idsOf = (/** @type {any[]} */ rows) => attentionOf(rows, () => false).map(({ id }) => id);
  assert.deepEqual(idsOf([told('url.exhausted', 5)]), ['5']);
  assert.deepEqual(idsOf([told('url.deleted', 1), told('url.exhausted', 5)]), []);
  assert.deepEqual(idsOf([told('url.exhausted', 200)]), []);
});

test('problems need attention until there is newer news, and a week at most', () => {
  const told = (/** @type {string} */ event_type, /** @type {number} */ hours, /** @type {string} */ about, status = 'sent') =>
    /** @type {any} */ ({ id: `${about} ${event_type}`, event_type, status, created_at: hence(-hours), ...(about.startsWith('t_') ? { target_id: about } : { short_code: about }) });
  const rows = [
    told('milestone.reached', 0.1, 'launch'),
    told('target.up', 0.2, 't_blog'),
    told('target.down', 0.3, 't_blog'),
    told('url.purged', 0.4, 'gone'),
    told('url.expired', 20, 'gone'),
    told('url.exhausted', 21, 'tasting'),
    told('target.down', 40, 't_shop'),
    told('url.expired', 72, 'openday'),
    told('milestone.reached', 96, 'menu', 'failed'),
    told('url.expired', 216, 'summer'),
  ];
  const ended = ['tasting url.exhausted', 't_shop target.down', 'openday url.expired', 'menu milestone.reached'];
  assert.deepEqual(attentionOf(rows, () => false).map(({ id }) => id), ended);
  assert.deepEqual(attentionOf(rows, () => true).map(({ id }) => id), ended.filter((id) => !id.startsWith('t_')));
});

test('terms are sent as the API expects, and removed ones as null', () => {
  const values = { ...termsOf(), max_clicks: ' 25 ', fallback_url: 'example.com/over', password: 'abcd', 'preview.title': ' Ours ' };
  const all = Object.keys(values);
  assert.deepEqual(termsBody(values, all), { valid_from: null, max_clicks: 25, fallback_url: 'https://example.com/over', password: 'abcd', forward_query: false, preview: { title: 'Ours' } });
  assert.deepEqual(termsBody({ ...termsOf(), password: null }, ['password', 'preview.image']), { password: null, preview: null });
  assert.deepEqual(termsBody(values, []), {});
});

test('what is wrong with terms is found before they are sent', () => {
  const wrongIn = (/** @type {object} */ some, link = undefined) =>
    Object.entries(termErrors({ ...termsOf(), expires_at: null, ...some }, link)).flatMap(([name, error]) => (error ? [name] : []));
  assert.deepEqual(wrongIn({}), []);
  for (const max_clicks of ['0', '1.5', '-1', 'many', '1000001']) assert.deepEqual(wrongIn({ max_clicks }), ['max_clicks'], max_clicks);
  assert.deepEqual(wrongIn({ max_clicks: '1000000', fallback_url: 'example.com', password: '🔑🔑🔑🔑' }), []);
  assert.deepEqual(wrongIn({ fallback_url: 'ftp://example.com', password: '🔑🔑🔑', 'preview.image': 'nowhere' }), ['fallback_url', 'password', 'preview.image']);
  const [start, end] = [hence(5), hence(4)];
  assert.deepEqual(wrongIn({ valid_from: start, expires_at: end }), ['valid_from']);
  // What is so already is no reason not to change something else.
  assert.deepEqual(wrongIn({ valid_from: start, expires_at: end }, /** @type {any} */ ({ valid_from: start, expires_at: end })), []);
});

test('what the API says of a term stands at its field, without its name', () => {
  const said = (/** @type {string} */ detail, /** @type {string} */ field) => {
    const { message, field: at } = /** @type {any} */ (atItsField(new ApiError('problem', detail, { field })));
    return [at, message];
  };
  assert.deepEqual(said('Preview.title must have at most 200 characters.', 'preview'), ['preview.title', 'This must have at most 200 characters.']);
  assert.deepEqual(said('Fallback_url must include scheme and host.', 'fallback_url'), ['fallback_url', 'This must include scheme and host.']);
  assert.deepEqual(said('Title must have at most 500 characters.', 'title'), ['title', 'Title must have at most 500 characters.']);
  const lost = new TypeError('no');
  assert.equal(atItsField(lost), lost);
});

test('rules and variants come back from the editor as they went in', () => {
  const routing = {
    rules: [{ name: 'iPhones', url: 'https://example.com/ios', conditions: [{ type: 'device', value: 'ios' }, { type: 'query-param', key: 'ref', value: '' }, { type: 'country', value: ['DE', 'AT'] }] }],
    variants: [{ url: 'https://example.com/b', weight: 30 }],
    countries_known: true,
  };
  const values = valuesOf(routing);
  const { countries_known, ...body } = routing;
  assert.deepEqual(bodyOf(values), body);
  assert.equal(restOf(values.variants), 70);
  assert(Object.values(errorsOf(values)).every((error) => error === undefined));
});

test('each wrong rule and variant is named', () => {
  const rule = { ...newRule(), url: 'nowhere', conditions: [{ id: 901, ...conditionOf('country') }, { id: 902, ...conditionOf('query-param') }, { id: 903, ...conditionOf('before-date') }] };
  const variants = [{ ...newVariant(), url: 'example.com', weight: '0' }, { ...newVariant(), url: 'example.com', weight: '101' }];
  const wrong = Object.entries(errorsOf({ rules: [rule], variants })).flatMap(([key, error]) => (error ? [key] : []));
  assert.deepEqual(wrong, [keyOf('url', rule.id), keyOf('condition', 901), keyOf('condition', 902), ...variants.map(({ id }) => keyOf('weight', id))]);
  const shared = [60, 50].map((weight) => ({ ...newVariant(), url: 'example.com', weight: String(weight) }));
  assert.match(errorsOf({ rules: [], variants: shared }).variants ?? '', /110/);
});

test('countries and languages are found by name or code', () => {
  const found = (/** @type {string} */ type, /** @type {string} */ text) => optionsFor(type, text).map(({ value }) => value);
  assert.equal(found('country', '').length, 250);
  assert.equal(found('country', 'de')[0], 'DE');
  assert.deepEqual(found('country', 'Austria'), ['AT']);
  assert.equal(found('country', 'united king')[0], 'GB');
  assert.deepEqual(found('country', 'Atlantis'), []);
  assert.equal(found('language', 'fr')[0], 'fr');
  assert.deepEqual(found('language', 'gsw-CH'), ['gsw-CH']);
  assert.deepEqual(found('device', 'andr'), ['android']);
  assert(isNamed('country', { value: 'DE', label: 'Germany' }, 'germany'));
  assert(!isNamed('country', { value: 'DE', label: 'Germany' }, 'germ'));
});

test('a condition has words with all of its values', () => {
  const words = (/** @type {any} */ condition) => conditionWords({ ...valuesOf(/** @type {any} */ ({ rules: [{ url: '', conditions: [condition] }], variants: [] })).rules[0].conditions[0] });
  assert.equal(words({ type: 'country', value: ['DE', 'AT'] }), 'Country: Germany, Austria');
  assert.equal(words({ type: 'browser', value: 'edge' }), 'Browser: Edge');
  assert.equal(words({ type: 'query-param', key: 'ref', value: '' }), 'Parameter ref: empty');
});

test('each change of a history has words', () => {
  const words = (/** @type {any} */ changes) => sentencesOf(changes).filter((sentence) => typeof sentence === 'string');
  assert.deepEqual(words({ deleted: true }), ['deleted the link']);
  assert.deepEqual(words({ is_protected: { from: true, to: true }, is_active: { from: true, to: false } }), ['changed the password', 'disabled the link']);
  assert.deepEqual(words({ routing: { from: null, to: { rules: [{}], variants: [{}, {}] } } }), ['changed the rules and variants from none to 1 rule and 2 variants']);
  assert.deepEqual(words({ routing: { from: { rules: [{}] }, to: { rules: [{}], variants: [] } } }), ['changed the rules and variants (1 rule)']);
  for (const name of ['fallback_url', 'valid_from', 'expires_at', 'max_clicks']) {
    const [some, other] = name === 'max_clicks' ? [1, 2] : name === 'fallback_url' ? ['https://a.example/', 'https://b.example/'] : [hence(1), hence(2)];
    for (const [from, to] of [[null, some], [some, null], [some, other]]) assert.equal(sentencesOf({ [name]: { from, to } }).length, 1, name);
  }
  assert.deepEqual(words({ something: { from: 1, to: 2 } }), ['changed the link']);
});
