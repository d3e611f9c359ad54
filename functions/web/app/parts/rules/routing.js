// Rules and variants: as the API has them, as the editor has them, and in words.

import { guessUrl } from '../../core/address.js';
import { localText, momentInText, number } from '../../core/format.js';

/** @typedef {{ type: string, key?: string, value: string }} ApiCondition */
/** @typedef {{ name?: string | null, url: string, conditions: ApiCondition[] }} ApiRule */
/** @typedef {{ name?: string | null, url: string, weight: number }} ApiVariant */
/** @typedef {{ rules: ApiRule[], variants: ApiVariant[], countries_known: boolean }} Routing */

/** @typedef {{ id: number, type: string, key: string, value: string }} Condition */
/** @typedef {{ id: number, name: string, url: string, conditions: Condition[] }} Rule */
/** @typedef {{ id: number, name: string, url: string, weight: string }} Variant */
/** @typedef {{ rules: Rule[], variants: Variant[] }} Values what the editor has; an id tells what was moved or taken away */

export const MOST_RULES = 10;
export const MOST_VARIANTS = 5;
export const MOST_CONDITIONS = 5;
export const LONGEST_NAME = 30;
const WHOLE = 100;

/** @typedef {{ value: string, label: string }} Option */

/** @type {Option[]} */
export const DEVICES = [
  { value: 'ios', label: 'iPhone or iPad' },
  { value: 'android', label: 'Android' },
  { value: 'mobile', label: 'Any phone or tablet' },
  { value: 'windows', label: 'Windows' },
  { value: 'macos', label: 'Mac' },
  { value: 'linux', label: 'Linux' },
  { value: 'chromeos', label: 'Chromebook' },
  { value: 'desktop', label: 'Any computer' },
];
/** @type {Option[]} */
export const BROWSERS = [
  { value: 'chrome', label: 'Chrome' },
  { value: 'edge', label: 'Edge' },
  { value: 'firefox', label: 'Firefox' },
  { value: 'safari', label: 'Safari' },
  { value: 'opera', label: 'Opera' },
  { value: 'samsung', label: 'Samsung Internet' },
];
/** What a condition can look at. @type {Option[]} */
export const TYPES = [
  { value: 'device', label: 'Device' },
  { value: 'browser', label: 'Browser' },
  { value: 'language', label: 'Language' },
  { value: 'country', label: 'Country' },
  { value: 'query-param', label: 'Parameter' },
  { value: 'before-date', label: 'Before' },
  { value: 'after-date', label: 'On or after' },
];

let ids = 0;
const newId = () => (ids += 1);

/** With which value a condition of a type begins. @param {string} type @returns {Pick<Condition, 'type' | 'key' | 'value'>} */
export function conditionOf(type) {
  const values = /** @type {Record<string, string>} */ ({ device: DEVICES[0].value, browser: BROWSERS[0].value, 'before-date': tomorrow(), 'after-date': tomorrow() });
  return { type, key: '', value: values[type] ?? '' };
}

function tomorrow() {
  const date = new Date();
  date.setHours(24, 0, 0, 0);
  return date.toISOString();
}

/** @returns {Condition} */
export const newCondition = () => ({ id: newId(), ...conditionOf('device') });
/** @returns {Rule} */
export const newRule = () => ({ id: newId(), name: '', url: '', conditions: [newCondition()] });
/** @returns {Variant} */
export const newVariant = () => ({ id: newId(), name: '', url: '', weight: '' });

/** @param {Routing} routing @returns {Values} */
export const valuesOf = ({ rules, variants }) => ({
  rules: rules.map(({ name, url, conditions }) => ({ id: newId(), name: name ?? '', url, conditions: conditions.map(({ type, key, value }) => ({ id: newId(), type, key: key ?? '', value })) })),
  variants: variants.map(({ name, url, weight }) => ({ id: newId(), name: name ?? '', url, weight: String(weight) })),
});

/** What the API is given. @param {Values} values */
export const bodyOf = ({ rules, variants }) => ({
  rules: rules.map(({ name, url, conditions }) => ({ ...named(name), url: written(url), conditions: conditions.map(asApi) })),
  variants: variants.map(({ name, url, weight }) => ({ ...named(name), url: written(url), weight: Number(weight) })),
});

/** @param {string} name */
const named = (name) => (name.trim() ? { name: name.trim() } : {});

/** @param {string} url */
const written = (url) => guessUrl(url) ?? url.trim();

/** @param {Condition} condition @returns {ApiCondition} */
function asApi({ type, key, value }) {
  if (type === 'query-param') return { type, key: key.trim(), value };
  return { type, value: type === 'country' ? value.trim().toUpperCase() : value.trim() };
}

/** How many of a hundred visitors the link's own target gets. @param {Variant[]} variants */
export const restOf = (variants) => WHOLE - variants.reduce((sum, { weight }) => sum + (Number(weight) || 0), 0);

/**
 * What is wrong, by what it is about: see `keyOf`.
 * @param {Values} values
 * @returns {Record<string, string | undefined>}
 */
export function errorsOf({ rules, variants }) {
  const urls = [...rules, ...variants].map(({ id, url }) => [keyOf('url', id), guessUrl(url) ? undefined : 'Enter a URL that starts with http:// or https://.']);
  const conditions = rules.flatMap((rule) => rule.conditions.map((condition) => [keyOf('condition', condition.id), conditionError(condition)]));
  const weights = variants.map(({ id, weight }) => [keyOf('weight', id), isWeight(weight) ? undefined : 'Enter a number from 1 to 100.']);
  const isTooMuch = variants.every(({ weight }) => isWeight(weight)) && restOf(variants) < 0;
  return { ...Object.fromEntries([...urls, ...conditions, ...weights]), variants: isTooMuch ? `The shares add up to ${number(WHOLE - restOf(variants))}%. They can be at most 100%.` : undefined };
}

/** @param {'url' | 'condition' | 'weight'} what @param {number} id of the rule, variant or condition */
export const keyOf = (what, id) => `${what} ${id}`;

/** @param {string} weight */
const isWeight = (weight) => /^\d+$/.test(weight.trim()) && Number(weight) >= 1 && Number(weight) <= WHOLE;

/** @param {Condition} condition */
function conditionError({ type, key, value }) {
  if (type === 'language' && !/^[a-z]{2,3}(-[0-9a-z]{2,8}){0,2}$/i.test(value.trim())) return 'Enter a language, such as fr or en-US.';
  if (type === 'country' && !/^[a-z]{2}$/i.test(value.trim())) return 'Enter a two-letter country code, such as NO.';
  if (type === 'query-param' && !key.trim()) return 'Enter a parameter name.';
  if (type.endsWith('-date') && Number.isNaN(Date.parse(value))) return 'Choose a date and time.';
  return undefined;
}

/** @param {Option[]} options @param {string} value */
const labelOf = (options, value) => options.find((option) => option.value === value)?.label ?? value;

const countries = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'none' });
const languages = new Intl.DisplayNames(undefined, { type: 'language', fallback: 'none' });

/** What a country or a language is called; nothing if nobody knows. @param {string} type @param {string} code */
export function nameOfCode(type, code) {
  try {
    return (type === 'country' ? countries.of(code.trim().toUpperCase()) : languages.of(code.trim())) ?? '';
  } catch {
    return '';
  }
}

/** A condition as a reader has it. @param {Condition} condition */
export function conditionWords({ type, key, value }) {
  if (type === 'device') return labelOf(DEVICES, value);
  if (type === 'browser') return labelOf(BROWSERS, value);
  if (type === 'language' || type === 'country') return nameOfCode(type, value) || value;
  if (type === 'query-param') return `parameter ${key} is ${value || 'empty'}`;
  return `${type === 'before-date' ? 'before' : 'on or after'} ${momentInText(value)}`;
}

/** @param {string} text */
export const localOrNothing = (text) => (Number.isNaN(Date.parse(text)) ? '' : localText(text));
