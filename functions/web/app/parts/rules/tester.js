// Where some visitor would be led, by the rules and variants as they are in the editor.

import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { withoutScheme } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { Failure } from '../../ui/states.js';
import { BROWSERS, DEVICES, optionsFor } from './named.js';
import { bodyOf } from './routing.js';

/** @typedef {{ url: string, name: string, rule: number | null, variant: number | null }} Led */

const NOBODY = { device: '', browser: '', language: '', country: '', at: '', query: '' };

/** @param {{ code: string, values: import('./routing.js').Values, areCountriesKnown: boolean }} props */
export function Tester({ code, values, areCountriesKnown }) {
  const [visitor, setVisitor] = useState(NOBODY);
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState(/** @type {{ led?: Led, error?: any }} */ ({}));

  async function test() {
    setBusy(true);
    try {
      const body = { ...bodyOf(values), visitor: visitorOf(visitor) };
      setResult({ led: await call('POST /api/links/{code}/rules/test', { path: { code }, body }) });
    } catch (error) {
      setResult({ error });
    } finally {
      setBusy(false);
    }
  }

  /** @param {keyof typeof NOBODY} name */
  const field = (name) => ({
    value: visitor[name],
    onInput: (/** @type {any} */ event) => {
      setVisitor({ ...visitor, [name]: event.target.value });
      setResult({});
    },
  });
  // Enter would save the rules.
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || !(/** @type {Element} */ (event.target).matches('input'))) return;
    event.preventDefault();
    test();
  };
  const options = (/** @type {string} */ any, /** @type {import('./named.js').Option[]} */ list) => html`<option value="">${any}</option>${list.map(({ value, label }) => html`<option key=${value} value=${value}>${label}</option>`)}`;
  return html`<details class="fold" onKeyDown=${onKeyDown}>
    <summary>Test the rules</summary>
    <div class="stack">
      <p class="hint">Where would this visitor go? You don’t have to save first.</p>
      <div class="tester">
        <${Field} label="Device" as="select" ...${field('device')}>${options('Any device', DEVICES)}<//>
        <${Field} label="Browser" as="select" ...${field('browser')}>${options('Any browser', BROWSERS)}<//>
        <${Field} label="Language" isOptional placeholder="fr-CH" autocomplete="off" autocapitalize="none" spellcheck=${false} ...${field('language')} />
        <${Field} label="Country" as="select" hint=${!areCountriesKnown && 'Real visitors’ countries are unknown.'} ...${field('country')}>${options('Any country', optionsFor('country', ''))}<//>
        <${Field} label="Time" isOptional type="datetime-local" ...${field('at')} />
        <${Field} label="Parameters" isOptional placeholder="ref=mail" autocomplete="off" autocapitalize="none" spellcheck=${false} ...${field('query')} />
      </div>
      <p class="row"><${Button} isBusy=${isBusy} onClick=${test}>Test<//></p>
      <div role="status">${result.led && html`<${LedTo} led=${result.led} values=${values} />`}</div>
      ${result.error && html`<${Failure} what="Couldn’t run the test." error=${result.error} />`}
    </div>
  </details>`;
}

/** What is known of the visitor. @param {typeof NOBODY} visitor */
function visitorOf({ at, query, ...others }) {
  const all = { ...others, query: query.trim().replace(/^\?/, ''), at: at && new Date(at).toISOString() };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value.trim()));
}

/** @param {{ led: Led, values: import('./routing.js').Values }} props */
function LedTo({ led, values }) {
  return html`<p class="led">Goes to <bdi class="rule-url">${withoutScheme(led.url)}</bdi> <span class="muted">(<bdi>${byWhat(led, values)}</bdi>)</span></p>`;
}

/** @param {Led} led @param {import('./routing.js').Values} values */
function byWhat({ rule, variant }, { rules, variants }) {
  const named = (/** @type {string} */ what, /** @type {number} */ at, /** @type {string | undefined} */ name) => [`${what} ${at}`, name?.trim()].filter(Boolean).join(', ');
  if (rule) return named('rule', rule, rules[rule - 1]?.name);
  if (variant) return named('variant', variant, variants[variant - 1]?.name);
  return 'the link’s destination';
}
