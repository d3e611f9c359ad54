// Changes of a link in words. Each sentence goes on after the name of who made the change.

import { html } from '../../vendor/preact.js';
import { counted, cutMiddle, momentInText, number, withoutScheme } from '../../core/format.js';

/**
 * @template T
 * @typedef {{ from: T, to: T }} Transition
 */
/** @typedef {{ rules?: unknown[], variants?: unknown[] } | null} Routing */

/**
 * @typedef {object} Changes
 * @property {Transition<string>} [original_url]
 * @property {Transition<Routing>} [routing]
 * @property {Transition<string | null>} [fallback_url]
 * @property {Transition<string | null>} [valid_from]
 * @property {Transition<string | null>} [expires_at]
 * @property {Transition<number | null>} [max_clicks]
 * @property {Transition<boolean>} [is_active]
 * @property {Transition<boolean>} [is_protected] both are true for another password
 * @property {true} [deleted]
 */
/** @typedef {{ at: string, by: string, by_name: string | null, changes: Changes }} Change */

const URL_LENGTH = 72;

/** @param {string} url */
const address = (url) => html`<bdi title=${url}>${cutMiddle(withoutScheme(url), URL_LENGTH)}</bdi>`;

/**
 * How a member that may be absent has changed.
 * @template T
 * @param {Transition<T | null>} change
 * @param {{ set: string, changed: string, removed: string }} words
 * @param {(value: T) => unknown} show
 */
function optional({ from, to }, { set, changed, removed }, show) {
  if (from === null && to !== null) return html`${set} ${show(to)}`;
  if (from !== null && to === null) return html`${removed}, which was ${show(from)}`;
  return from !== null && to !== null && html`${changed} from ${show(from)} to ${show(to)}`;
}

/** @param {Routing} routing */
function routingWords(routing) {
  const parts = [
    routing?.rules?.length && counted(routing.rules.length, 'rule'),
    routing?.variants?.length && counted(routing.variants.length, 'variant'),
  ].filter(Boolean);
  return parts.join(' and ') || 'none';
}

/** @param {Transition<Routing>} routing */
function routingSentence({ from, to }) {
  const [before, after] = [routingWords(from), routingWords(to)];
  return before === after ? `changed the rules and variants (${after})` : `changed the rules and variants from ${before} to ${after}`;
}

/** @param {Transition<boolean>} password */
function passwordWords({ from, to }) {
  if (from && to) return 'changed the password';
  return to ? 'added a password' : 'removed the password';
}

/** @param {Changes} changes */
export function sentencesOf(changes) {
  const { original_url, routing, fallback_url, valid_from, expires_at, max_clicks, is_active, is_protected, deleted } = changes;
  const sentences = [
    deleted && 'deleted the link',
    original_url && html`changed the destination from ${address(original_url.from)} to ${address(original_url.to)}`,
    routing && routingSentence(routing),
    fallback_url &&
      optional(fallback_url, { set: 'set the fallback URL to', changed: 'changed the fallback URL', removed: 'removed the fallback URL' }, address),
    valid_from && optional(valid_from, { set: 'set the start to', changed: 'changed the start', removed: 'removed the start' }, momentInText),
    expires_at && optional(expires_at, { set: 'set the expiration to', changed: 'changed the expiration', removed: 'removed the expiration' }, momentInText),
    max_clicks && optional(max_clicks, { set: 'set the click limit to', changed: 'changed the click limit', removed: 'removed the click limit' }, number),
    is_protected && passwordWords(is_protected),
    is_active && (is_active.to ? 'enabled the link' : 'disabled the link'),
  ].filter(Boolean);
  return sentences.length > 0 ? sentences : ['changed the link'];
}
