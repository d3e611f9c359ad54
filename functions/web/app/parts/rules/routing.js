// Rules and variants: as the API has them, as the editor has them, and in words.

import { guessUrl } from '../../core/address.js';
import { localText, momentInText, number } from '../../core/format.js';
import { nameOfValue } from './named.js';

/** @typedef {import('./named.js').Option} Option */

/** @typedef {{ type: string, key?: string, value: string | string[] }} ApiCondition a list if there are several values */
/** @typedef {{ name?: string | null, url: string, conditions: ApiCondition[] }} ApiRule */
/** @typedef {{ name?: string | null, url: string, weight: number }} ApiVariant */
/** @typedef {{ rules: ApiRule[], variants: ApiVariant[], countries_known: boolean }} Routing */

/** @typedef {{ id: number, type: string, key: string, value: string, chosen: string[] }} Condition what is chosen of a list is `chosen`, and anything else is `value` */
/** @typedef {{ id: number, name: string, url: string, conditions: Condition[] }} Rule */
/** @typedef {{ id: number, name: string, url: string, weight: string }} Variant */
/** @typedef {{ rules: Rule[], variants: Variant[] }} Values what the editor has; an id tells what was moved or taken away */

export const MOST_RULES = 10;
export const MOST_VARIANTS = 5;
export const MOST_CONDITIONS = 5;
export const MOST_VALUES = 50;
export const LONGEST_NAME = 30;
const WHOLE = 100;

/** What a condition can look at. @type {Option[]} */
export const TYPES = [
  { value: 'country', label: 'Country' },
  { value: 'language', label: 'Language' },
  { value: 'device', label: 'Device' },
  { value: 'browser', label: 'Browser' },
  { value: 'query-param', label: 'Parameter' },
  { value: 'before-date', label: 'Before' },
  { value: 'after-date', label: 'On or after' },
];
const LISTED = ['country', 'language', 'device', 'browser'];

/** Whether a condition chooses from a list. @param {string} type */
export const isListed = (type) => LISTED.includes(type);

let ids = 0;
const newId = () => (ids += 1);

/** With which value a condition of a type begins. @param {string} type @returns {Pick<Condition, 'type' | 'key' | 'value' | 'chosen'>} */
export const conditionOf = (type) => ({ type, key: '', value: type.endsWith('-date') ? tomorrow() : '', chosen: [] });

function tomorrow() {
  const date = new Date();
  date.setHours(24, 0, 0, 0);
  return date.toISOString();
}

/** @param {string} [type] @returns {Condition} */
export const newCondition = (type = 'device') => ({ id: newId(), ...conditionOf(type) });
/** @param {string} [type] of its condition @returns {Rule} */
export const newRule = (type) => ({ id: newId(), name: '', url: '', conditions: [newCondition(type)] });
/** @returns {Variant} */
export const newVariant = () => ({ id: newId(), name: '', url: '', weight: '' });

/** @param {Routing} routing @returns {Values} */
export const valuesOf = ({ rules, variants }) => ({
  rules: rules.map(({ name, url, conditions }) => ({ id: newId(), name: name ?? '', url, conditions: conditions.map(ofApi) })),
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

/** @param {ApiCondition} condition @returns {Condition} */
function ofApi({ type, key = '', value }) {
  const chosen = [value].flat();
  return { id: newId(), type, key, ...(isListed(type) ? { value: '', chosen } : { value: chosen[0], chosen: [] }) };
}

/** @param {Condition} condition @returns {ApiCondition} */
function asApi({ type, key, value, chosen }) {
  if (type === 'query-param') return { type, key: key.trim(), value };
  if (isListed(type)) return { type, value: chosen.length === 1 ? chosen[0] : chosen };
  return { type, value: value.trim() };
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
function conditionError({ type, key, value, chosen }) {
  if (isListed(type) && chosen.length === 0) return `Choose at least one ${labelOf(TYPES, type).toLowerCase()}.`;
  if (type === 'query-param' && !key.trim()) return 'Enter a parameter name.';
  if (type.endsWith('-date') && Number.isNaN(Date.parse(value))) return 'Choose a date and time.';
  return undefined;
}

/** @param {Option[]} options @param {string} value */
const labelOf = (options, value) => options.find((option) => option.value === value)?.label ?? value;

/** A condition as a reader has it. @param {Condition} condition */
export function conditionWords({ type, key, value, chosen }) {
  if (isListed(type)) return `${labelOf(TYPES, type)}: ${chosen.map((one) => nameOfValue(type, one)).join(', ')}`;
  if (type === 'query-param') return `Parameter ${key}: ${value || 'empty'}`;
  return `${labelOf(TYPES, type)} ${momentInText(value)}`;
}

/** @param {string} text */
export const localOrNothing = (text) => (Number.isNaN(Date.parse(text)) ? '' : localText(text));
