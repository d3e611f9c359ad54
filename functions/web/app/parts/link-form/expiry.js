import { html } from '../../vendor/preact.js';
import { fullTime, localText } from '../../core/format.js';
import { Chip } from '../../ui/chips.js';
import { useId } from '../../ui/field.js';

const DAY_MS = 86_400_000;
const CHOICES = [
  { days: 1, label: '1 day' },
  { days: 7, label: '7 days' },
  { days: 30, label: '30 days' },
];

/** @param {string | null} expiry */
export const expiryError = (expiry) => (expiry !== null && Date.parse(expiry) <= Date.now() ? 'Choose a time in the future.' : undefined);

/** People mean whole days. */
const endOfTomorrow = () => new Date(new Date(Date.now() + DAY_MS).setHours(23, 59, 0, 0)).toISOString();

/**
 * When the link stops working.
 * @param {{ value: string | null, onChange: (expiry: string | null) => void, error?: string }} props an RFC 3339 moment, or null for never
 */
export function Expiry({ value, onChange, error }) {
  const id = useId('expiry');
  const in_ = (/** @type {number} */ days) => new Date(Date.now() + days * DAY_MS).toISOString();
  const isIn = (/** @type {number} */ days) => value !== null && Math.abs(Date.parse(value) - Date.now() - days * DAY_MS) < 120_000;
  const isOther = value !== null && !CHOICES.some(({ days }) => isIn(days));
  return html`<div class="field" role="group" aria-labelledby=${id} aria-describedby=${error ? `${id}-error` : undefined}>
    <span class="label" id=${id}>Expires</span>
    <div class="chips">
      <${Chip} isOn=${value === null} onClick=${() => onChange(null)}>Never<//>
      ${CHOICES.map(({ days, label }) => html`<${Chip} key=${days} isOn=${isIn(days)} onClick=${() => onChange(in_(days))}>${label}<//>`)}
      <${Chip} isOn=${isOther} onClick=${() => onChange(endOfTomorrow())}>A date<//>
    </div>
    ${value !== null &&
    html`<input
      type="datetime-local"
      aria-label="Expires on"
      aria-invalid=${error ? 'true' : undefined}
      value=${localText(value)}
      onInput=${(/** @type {any} */ event) => event.target.value && onChange(new Date(event.target.value).toISOString())}
    />`}
    ${error && html`<p class="field-error" id=${`${id}-error`}>${error}</p>`}
    ${value !== null && !error && html`<p class="hint">Works until ${fullTime(value)}.</p>`}
  </div>`;
}
