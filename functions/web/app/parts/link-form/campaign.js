// The five parameters with which campaigns are told apart, in the target itself.

import { html } from '../../vendor/preact.js';
import { Field } from '../../ui/field.js';

const PARAMETERS = [
  { name: 'utm_source', label: 'Source', hint: 'Where you share it: newsletter, poster', isFirst: true },
  { name: 'utm_medium', label: 'Medium', hint: 'Channel: email, print, social', isFirst: true },
  { name: 'utm_campaign', label: 'Campaign', hint: 'What it’s part of: spring-sale', isFirst: true },
  { name: 'utm_term', label: 'Term', hint: 'The paid keyword', isFirst: false },
  { name: 'utm_content', label: 'Content', hint: 'The version, in a test of several', isFirst: false },
];

/** @param {string} url @param {string} name */
const valueIn = (url, name) => (URL.canParse(url) ? (new URL(url).searchParams.get(name) ?? '') : '');

/** @param {string} url */
export const hasCampaign = (url) => PARAMETERS.some(({ name }) => valueIn(url, name) !== '');

/**
 * The address with another value of a parameter; all else stays as it was written.
 * @param {string} url
 * @param {string} name
 * @param {string} value
 */
export function withParameter(url, name, value) {
  const [rest, fragment] = url.split(/#(.*)/s);
  const [path, query = ''] = rest.split(/\?(.*)/s);
  const others = query.split('&').filter((pair) => pair && pair.split('=')[0] !== name);
  const all = value ? [...others, `${name}=${encodeURIComponent(value)}`] : others;
  return `${path}${all.length > 0 ? `?${all.join('&')}` : ''}${fragment === undefined ? '' : `#${fragment}`}`;
}

/** @param {{ url: string, onUrl: (url: string) => void }} props */
export function Campaign({ url, onUrl }) {
  const isUsable = URL.canParse(url);
  const field = (/** @type {typeof PARAMETERS[0]} */ { name, label, hint }) =>
    html`<${Field}
      key=${name}
      label=${label}
      hint=${hint}
      autocapitalize="none"
      autocomplete="off"
      disabled=${!isUsable}
      value=${valueIn(url, name)}
      onInput=${(/** @type {any} */ event) => onUrl(withParameter(url, name, event.target.value))}
    />`;
  return html`<details class="fold" open=${hasCampaign(url)}>
    <summary>Campaign</summary>
    <div class="stack">
      <p class="hint">${isUsable ? 'These are added to the destination, so your own analytics can tell where visitors came from. They always make a new link.' : 'Enter the destination first.'}</p>
      ${PARAMETERS.filter(({ isFirst }) => isFirst).map(field)}
      <div class="pair">${PARAMETERS.filter(({ isFirst }) => !isFirst).map(field)}</div>
    </div>
  </details>`;
}
