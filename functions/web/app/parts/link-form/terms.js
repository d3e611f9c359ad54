// When a link leads to its target, how often, for whom, and what is shown of it: a section that opens by itself if the link has
// any of this.

import { html, useState } from '../../vendor/preact.js';
import { guessUrl } from '../../core/address.js';
import { ApiError } from '../../core/api.js';
import { localText, momentInText } from '../../core/format.js';
import { usedOf } from '../../core/lists.js';
import { Chip } from '../../ui/chips.js';
import { Checkbox, Field, useId } from '../../ui/field.js';
import { Fallback } from './fallback.js';
import { LinkPassword } from './link-password.js';
import { PreviewFields } from './preview.js';

/** @typedef {import('../../core/lists.js').Link} Link */

/** @typedef {{ 'preview.title': string, 'preview.description': string, 'preview.image': string }} PreviewValues */
/** @typedef {PreviewValues & { valid_from: string | null, max_clicks: string, fallback_url: string, password: string | null, forward_query: boolean }} TermValues no password if it stays as it is, `null` if it is taken away */

const MOST_USES = 1_000_000;
const SHORTEST_PASSWORD = 4;
const HOUR_MS = 3_600_000;

/** @param {Link} [link] @returns {TermValues} */
export const termsOf = (link) => ({
  valid_from: link?.valid_from ?? null,
  max_clicks: String(link?.max_clicks ?? ''),
  fallback_url: link?.fallback_url ?? '',
  password: '',
  forward_query: link?.forward_query ?? false,
  'preview.title': link?.preview?.title ?? '',
  'preview.description': link?.preview?.description ?? '',
  'preview.image': link?.preview?.image ?? '',
});

/** Whether a link has any of it. @param {Link | undefined} link */
const hasTerms = (link) => link !== undefined && (Boolean(link.is_protected) || JSON.stringify(termsOf(link)) !== JSON.stringify(termsOf()));

/** @param {TermValues & { expires_at: string | null }} values @param {Link | undefined} link */
export function termErrors(values, link) {
  const { valid_from: start, expires_at: end, max_clicks: most, fallback_url: fallback, password, 'preview.image': image } = values;
  const isAddress = (/** @type {string} */ text) => text.trim() === '' || guessUrl(text) !== undefined;
  const hasChanged = start !== (link?.valid_from ?? null) || end !== (link?.expires_at ?? null);
  return {
    valid_from: start && end && hasChanged && Date.parse(start) >= Date.parse(end) ? 'The link must start before it expires.' : undefined,
    max_clicks: most.trim() === '' || isLimit(most) ? undefined : 'Enter a whole number from 1 to 1,000,000, or leave this blank.',
    fallback_url: isAddress(fallback) ? undefined : 'Enter a URL that starts with http:// or https://, or leave this blank.',
    password: password && [...password.normalize('NFC')].length < SHORTEST_PASSWORD ? 'Use at least 4 characters.' : undefined,
    'preview.image': isAddress(image) ? undefined : 'Enter an image URL that starts with http:// or https://, or leave this blank.',
  };
}

/** @param {string} text */
const isLimit = (text) => /^\d+$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= MOST_USES;

/**
 * What the API is given: of these members, those that have a value. Those without one are `null`.
 * @param {TermValues} values
 * @param {string[]} names as the form calls them
 * @returns {Record<string, unknown>}
 */
export function termsBody(values, names) {
  const { valid_from, max_clicks, fallback_url, password, forward_query } = values;
  const url = (/** @type {string} */ text) => guessUrl(text) ?? (text.trim() || null);
  const preview = Object.fromEntries([
    ['title', values['preview.title'].trim()],
    ['description', values['preview.description'].trim()],
    ['image', url(values['preview.image'])],
  ].filter(([, value]) => value));
  const members = {
    valid_from,
    max_clicks: max_clicks.trim() ? Number(max_clicks) : null,
    fallback_url: url(fallback_url),
    password: password || null,
    forward_query,
    preview: Object.keys(preview).length > 0 ? preview : null,
  };
  const wanted = names.map((name) => name.split('.')[0]);
  return Object.fromEntries(Object.entries(members).filter(([name]) => wanted.includes(name)));
}

/**
 * What the API says of a term, for its field: the sentence needs no name there, and tells which part of a preview it is about.
 * @param {unknown} error
 */
export function atItsField(error) {
  if (!(error instanceof ApiError)) return error;
  const name = Object.keys(termsOf()).find((known) => error.message.toLowerCase().startsWith(`${known} `));
  if (!name || error.field !== name.split('.')[0]) return error;
  error.field = name;
  error.message = `This${error.message.slice(name.length)}`;
  return error;
}

/**
 * @param {object} props
 * @param {import('../../core/form.js').Form<any>} props.form whose values have those of `TermValues`
 * @param {Link} [props.link] the link that is changed
 * @param {import('../../core/resource.js').Resource<import('../../core/lists.js').Destinations>} props.destinations
 */
export function Terms({ form, link, destinations }) {
  const { values, errors, set, field } = form;
  const [isOpen, setOpen] = useState(() => hasTerms(link));
  // What is wrong has to be seen, and takes the focus.
  const isWrong = Object.keys(termsOf()).some((name) => errors[name]);
  const used = link && link.used !== null && usedOf(link);
  return html`<details class="fold" open=${isOpen || isWrong} onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary>Access and limits</summary>
    <div class="stack">
      <${Beginning} value=${values.valid_from} onChange=${(/** @type {string | null} */ start) => set('valid_from', start)} error=${errors.valid_from} />
      <${Field}
        label="Click limit"
        isOptional
        inputmode="numeric"
        autocomplete="off"
        placeholder="100"
        hint=${used ? `${used}.` : 'Only human clicks count. The link stops working after the last one.'}
        ...${field('max_clicks')}
      />
      <${Fallback} input=${field('fallback_url')} link=${link} destinations=${destinations} onChange=${(/** @type {string} */ url) => set('fallback_url', url)} />
      <${LinkPassword} isSet=${link?.is_protected ?? false} value=${values.password} error=${errors.password} onChange=${(/** @type {string | null} */ password) => set('password', password)} />
      <${Checkbox}
        label="Forward query parameters"
        hint="Whatever follows ? in the short URL is added to the destination."
        checked=${values.forward_query}
        onChange=${(/** @type {boolean} */ on) => set('forward_query', on)}
      />
      <${PreviewFields} field=${field} values=${values} link=${link} />
    </div>
  </details>`;
}

/** @param {{ value: string | null, onChange: (start: string | null) => void, error?: string }} props */
function Beginning({ value, onChange, error }) {
  const id = useId('beginning');
  return html`<div class="field" role="group" aria-labelledby=${id} aria-describedby=${error ? `${id}-error` : undefined}>
    <span class="label" id=${id}>Starts</span>
    <div class="chips">
      <${Chip} isOn=${value === null} onClick=${() => onChange(null)}>Immediately<//>
      <${Chip} isOn=${value !== null} onClick=${() => onChange(nextHour())}>On a date<//>
    </div>
    ${value !== null &&
    html`<input
      type="datetime-local"
      aria-label="Starts on"
      aria-invalid=${error ? 'true' : undefined}
      aria-describedby=${error ? `${id}-error` : undefined}
      value=${localText(value)}
      onInput=${(/** @type {any} */ event) => event.target.value && onChange(new Date(event.target.value).toISOString())}
    />`}
    ${error && html`<p class="field-error" id=${`${id}-error`}>${error}</p>`}
    ${value !== null && !error && html`<p class="hint">${Date.parse(value) > Date.now() ? `Visitors see that it isn’t active until ${momentInText(value)}.` : `Active since ${momentInText(value)}.`}</p>`}
  </div>`;
}

/** The whole hour after the next one. */
const nextHour = () => new Date((Math.floor(Date.now() / HOUR_MS) + 2) * HOUR_MS).toISOString();
