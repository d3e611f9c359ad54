// Rows of cells, and what their columns are: what is to be made, what is wrong with it, and what the API is given.

import { guessUrl } from '../../core/address.js';
import { endOf } from '../../core/days.js';
import { folded } from '../../core/folding.js';
import { number } from '../../core/format.js';
import { codeError, isMadeUp } from '../link-form/code-field.js';
import { hasCampaign, PARAMETERS, withCampaign } from '../utm/campaign.js';
import { readText } from './reading.js';

/** @typedef {import('../utm/campaign.js').Parameter} Parameter */
/** @typedef {import('../utm/campaign.js').CampaignValues} CampaignValues */
/** @typedef {'url' | 'custom_code' | 'title' | 'description' | 'tags' | 'expires_at' | 'external_id' | Parameter} FieldName */
/** A column without a field isn’t used. @typedef {{ head: string, field: FieldName | '' }} SheetColumn `head` is what the first row calls it */
/** @typedef {{ id: number, cells: string[] }} SheetRow `id` is its place in what was pasted, from 1 */
/** @typedef {{ columns: SheetColumn[], rows: SheetRow[], isTable: boolean }} Sheet */
/** What is wrong with a row, by field. @typedef {Partial<Record<FieldName, string>>} RowErrors */

/** How many links are made at once. */
export const MOST_ROWS = 1_000;

/** What a column can be, with what heads call it besides its label. @type {{ name: FieldName, label: string, words: string[] }[]} */
export const FIELDS = [
  { name: 'url', label: 'URL', words: ['destination url', 'destination', 'long url', 'original url', 'target url', 'landing page', 'landing page url', 'full url', 'final url', 'long link', 'destination link', 'website', 'address', 'urls', 'link', 'target'] },
  { name: 'custom_code', label: 'Custom code', words: ['short code', 'custom slug', 'slug', 'code', 'alias', 'custom alias', 'back half', 'custom back half', 'keyword', 'key', 'path'] },
  { name: 'title', label: 'Title', words: ['name', 'link title', 'link name', 'page title'] },
  { name: 'description', label: 'Description', words: ['notes', 'note', 'comments', 'comment'] },
  { name: 'tags', label: 'Tags', words: ['tag', 'labels', 'label', 'categories', 'category'] },
  { name: 'expires_at', label: 'Expires', words: ['expires at', 'expires on', 'expiry', 'expiry date', 'expiration', 'expiration date', 'valid until', 'end date'] },
  { name: 'external_id', label: 'External ID', words: ['external id', 'id'] },
  ...PARAMETERS.map(({ name, label }) => ({ name, label: `UTM ${label.toLowerCase()}`, words: [label, `campaign ${label}`, ...(name === 'utm_campaign' ? ['campaign name'] : [])] })),
];

const normalized = (/** @type {string} */ text) => folded(text).replace(/[^\p{L}\p{N}]+/gu, '');
const NAMES = FIELDS.map(({ name, label, words }) => ({ name, words: [name, label, ...words].map(normalized) }));

/** @param {string} head */
const fieldCalled = (head) => NAMES.find(({ words }) => words.includes(normalized(head)))?.name;

/** Whether a row names columns. @param {string[]} row */
const isHead = (row) => row.some((cell) => fieldCalled(cell)) && !row.some((cell) => /^https?:/i.test(cell));

/** @param {string} text @param {number} [first] the id of the first row @returns {Sheet} */
export function sheetOf(text, first = 1) {
  const { cells, isTable } = readText(text, isHead);
  const [top = []] = cells;
  const hasHead = isHead(top) || (isTable && cells.length > 1 && !top.some((cell) => guessUrl(cell)));
  const rows = hasHead ? cells.slice(1) : cells;
  const width = cells.reduce((most, { length }) => Math.max(most, length), isTable ? 1 : 2);
  const at = (/** @type {number} */ index) => rows.map((row) => row[index] ?? '');
  const fields = hasHead ? fieldsByHead(top, width, at) : isTable ? fieldsByContent(width, at) : /** @type {const} */ (['url', 'custom_code']);
  return {
    isTable,
    columns: Array.from({ length: width }, (_, index) => ({ head: hasHead ? (top[index] ?? '') : '', field: fields[index] ?? '' })),
    rows: rows.map((row, index) => ({ id: first + index, cells: Array.from({ length: width }, (_, column) => row[column] ?? '') })),
  };
}

/**
 * Each field is found once: by the word that stands first in its list.
 * @param {string[]} head
 * @param {number} width
 * @param {(index: number) => string[]} at
 */
function fieldsByHead(head, width, at) {
  /** @type {(FieldName | '')[]} */
  const fields = Array.from({ length: width }, () => '');
  for (const { name, words } of NAMES) {
    const found = words.map((word) => head.findIndex((cell, index) => normalized(cell) === word && !fields[index])).find((index) => index >= 0);
    if (found !== undefined && !(name === 'custom_code' && areMadeUp(at(found)))) fields[found] = name;
  }
  if (!fields.includes('url')) {
    const found = fields.findIndex((field, index) => !field && areUrls(at(index)));
    if (found >= 0) fields[found] = 'url';
  }
  return fields;
}

/** @param {number} width @param {(index: number) => string[]} at */
function fieldsByContent(width, at) {
  /** @type {(FieldName | '')[]} */
  const fields = [];
  const isFree = (/** @type {FieldName} */ name) => !fields.includes(name);
  for (let index = 0; index < width; index += 1) {
    const cells = at(index).filter(Boolean);
    if (isFree('url') && areUrls(cells)) fields.push('url');
    else if (isFree('custom_code') && cells.length > 0 && cells.every((cell) => /[a-z]/i.test(cell) && !codeError(cell))) fields.push('custom_code');
    else if (isFree('expires_at') && cells.length > 0 && cells.every((cell) => momentOf(cell))) fields.push('expires_at');
    else if (isFree('tags') && cells.some((cell) => /[|,;]/.test(cell))) fields.push('tags');
    else if (isFree('title') && cells.some((cell) => / /.test(cell))) fields.push('title');
    else fields.push('');
  }
  return fields;
}

/** @param {string[]} cells */
const areUrls = (cells) => cells.filter((cell) => guessUrl(cell)).length * 2 > cells.length;

/** Whether codes are of links that were exported: another link can’t have them. @param {string[]} cells */
const areMadeUp = (cells) => cells.filter(isMadeUp).length * 2 > cells.length;

/**
 * The moment that somebody means, in RFC 3339. A day is meant with its evening, and a time is the visitor's unless it says otherwise.
 * @param {string} text
 */
export function momentOf(text) {
  const [, day, month, year, rest = ''] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(.*)$/.exec(text) ?? [];
  const written = year ? `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}${rest}` : text;
  if (/^\d{4}-\d{2}-\d{2}$/.test(written)) return isDay(written) ? endOf(written) : '';
  const [, date, time, zone = ''] = /^(\d{4}-\d{2}-\d{2})[T ]+(\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(Z|[+-]\d{2}:\d{2})?$/i.exec(written) ?? [];
  const moment = date && isDay(date) ? Date.parse(`${date}T${time}${zone}`) : NaN;
  return Number.isNaN(moment) ? '' : new Date(moment).toISOString();
}

/** @param {string} date */
const isDay = (date) => !Number.isNaN(Date.parse(date)) && new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);

/** Separated by what stands in the cell: `a | b`, or `a, b`. @param {string} text */
const tagsIn = (text) => text.split(text.includes('|') ? '|' : /[,;]/).map((tag) => tag.trim()).filter(Boolean);

/** @param {Sheet} sheet @param {SheetRow} row @param {FieldName} name */
export function cellOf({ columns }, { cells }, name) {
  const index = columns.findIndex(({ field }) => field === name);
  return (cells[index] ?? '').trim();
}

/**
 * What is wrong, by the row’s id.
 * @param {Sheet} sheet
 * @returns {Map<number, RowErrors>}
 */
export function mistakesOf(sheet) {
  /** @type {Map<string, number>} */
  const codes = new Map();
  const wrong = new Map();
  for (const row of sheet.rows) {
    const code = cellOf(sheet, row, 'custom_code');
    const expiry = cellOf(sheet, row, 'expires_at');
    const errors = { url: urlMistake(cellOf(sheet, row, 'url')), custom_code: codeError(code) ?? takenWithin(row, code, codes), expires_at: expiry && expiryMistake(expiry) };
    const found = Object.entries(errors).filter(([, why]) => why);
    if (found.length > 0) wrong.set(row.id, Object.fromEntries(found));
  }
  return wrong;
}

/** @param {string} url */
function urlMistake(url) {
  if (!url) return 'Enter a URL.';
  if (/\s/.test(url)) return 'A URL can’t contain spaces.';
  return guessUrl(url) ? undefined : 'Enter a URL that starts with http:// or https://.';
}

/** @param {string} text */
function expiryMistake(text) {
  const moment = momentOf(text);
  if (!moment) return 'Enter a date such as 2027-03-31.';
  return Date.parse(moment) <= Date.now() ? 'Choose a time in the future.' : undefined;
}

/** A code is the same in any case. @param {SheetRow} row @param {string} code @param {Map<string, number>} codes the rows that have one */
function takenWithin({ id }, code, codes) {
  const key = code.toLowerCase();
  const first = codes.get(key);
  if (first !== undefined) return `Row ${number(first)} also has the code ${code}.`;
  if (code) codes.set(key, id);
  return undefined;
}

/** What holds for all rows. @typedef {{ tags: string[], campaign: CampaignValues }} ForAll */

/** The address of a row, with its campaign: its own columns, and besides what holds for all. @param {Sheet} sheet @param {SheetRow} row @param {CampaignValues} campaign */
export function urlOf(sheet, row, campaign) {
  const typed = cellOf(sheet, row, 'url');
  const own = PARAMETERS.map(({ name }) => [name, cellOf(sheet, row, name)]).filter(([, value]) => value);
  return withCampaign(guessUrl(typed) ?? typed, { ...campaign, ...Object.fromEntries(own) });
}

/** Whether links would differ by their campaign alone, which doesn’t count when they are matched. @param {Sheet} sheet @param {CampaignValues} campaign */
export const haveCampaigns = (sheet, campaign) => Object.values(campaign).some(Boolean) || sheet.rows.some((row) => hasCampaign(urlOf(sheet, row, campaign)));

/**
 * What the API is given for a row.
 * @param {Sheet} sheet
 * @param {SheetRow} row
 * @param {ForAll & { isFresh: boolean }} all `isFresh` says whether no link that is there may be the answer
 */
export function newLinkOf(sheet, row, { tags, campaign, isFresh }) {
  const text = (/** @type {FieldName} */ name) => cellOf(sheet, row, name) || undefined;
  const expiry = text('expires_at');
  const own = tagsIn(cellOf(sheet, row, 'tags'));
  const known = new Set(own.map(folded));
  const allTags = [...own, ...tags.filter((tag) => !known.has(folded(tag)))];
  return {
    url: urlOf(sheet, row, campaign),
    custom_code: text('custom_code'),
    title: text('title'),
    description: text('description'),
    tags: allTags.length > 0 ? allTags : undefined,
    expires_at: expiry && (momentOf(expiry) || expiry),
    external_id: text('external_id'),
    reuse: isFresh ? false : undefined,
  };
}

/** What several columns are, of which one has to be chosen. @param {Sheet} sheet @returns {Set<FieldName | ''>} */
export const doublesOf = ({ columns }) => new Set(columns.map(({ field }) => field).filter((field, index, all) => field && all.indexOf(field) !== index));

/** The sheet in which a column is something else. @param {Sheet} sheet @param {number} index @param {FieldName | ''} field @returns {Sheet} */
export const withField = (sheet, index, field) => ({ ...sheet, columns: sheet.columns.map((column, at) => (at === index ? { ...column, field } : column)) });

/** @param {Sheet} sheet @param {number} id @param {number} index @param {string} text @returns {Sheet} */
export const withCell = (sheet, id, index, text) => ({
  ...sheet,
  rows: sheet.rows.map((row) => (row.id === id ? { ...row, cells: row.cells.map((cell, at) => (at === index ? text : cell)) } : row)),
});

/** The rows as lines in which tabs separate cells, as they can be pasted again. @param {Sheet} sheet */
export function textOfSheet({ columns, rows, isTable }) {
  const written = (/** @type {string} */ cell) => (/[\t\r\n]|^"/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const used = columns.map((_, index) => index).filter((index) => isTable || rows.some(({ cells }) => cells[index]));
  const line = (/** @type {string[]} */ cells) => used.map((index) => written(cells[index])).join('\t').trimEnd();
  const head = isTable ? [line(columns.map(({ head: name, field }) => labelOf(field) || name))] : [];
  return [...head, ...rows.map(({ cells }) => line(cells))].join('\n');
}

/** @param {FieldName | ''} field */
export const labelOf = (field) => FIELDS.find(({ name }) => name === field)?.label ?? '';
