// Where visitors go while the link doesn't lead to its target.

import { html } from '../../vendor/preact.js';
import { withoutScheme } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { LockedHint } from './destination.js';

const LABEL = 'Fallback URL';

/**
 * @param {object} props
 * @param {ReturnType<import('../../core/form.js').Form<any>['field']>} props.input
 * @param {import('../../core/lists.js').Link} [props.link] the link that is changed
 * @param {import('../../core/resource.js').Resource<import('../../core/lists.js').Destinations>} props.destinations
 * @param {(url: string) => void} props.onChange
 */
export function Fallback({ input, link, destinations, onChange }) {
  if (link && destinations.data === 'fixed') return html`<${Fixed} url=${link.fallback_url ?? ''} value=${input.value} error=${input.error} onChange=${onChange} />`;
  return html`<${Field}
    label=${LABEL}
    isOptional
    type="url"
    inputmode="url"
    spellcheck=${false}
    autocomplete="off"
    placeholder="https://"
    hint="Where visitors go before the link starts, after it expires, and once it reaches its click limit."
    ...${input}
  />`;
}

/** Where destinations are fixed, it can only be taken away. @param {{ url: string, value: string, error?: string, onChange: (url: string) => void }} props */
function Fixed({ url, value, error, onChange }) {
  const { part, focusLater } = useLaterFocus();
  const after = (/** @type {() => void} */ act) => () => {
    act();
    focusLater('input, button');
  };
  return html`<div class="field" role="group" aria-label=${LABEL}>
    <span class="label" aria-hidden="true">${LABEL}</span>
    ${url &&
    html`<div class="kept" ref=${part}>
      <span>${value ? html`<bdi>${withoutScheme(url)}</bdi>` : 'Removed when you save.'}</span>
      ${value
        ? html`<${Button} class="compact" aria-label="Remove fallback URL" onClick=${after(() => onChange(''))}>Remove<//>`
        : html`<${Button} class="compact" onClick=${after(() => onChange(url))}>Keep<//>`}
    </div>`}
    ${error && html`<p class="field-error">${error}</p>`}
    <${LockedHint} consequence=${url ? 'you can only remove it' : 'only new links can have one'} />
  </div>`;
}
