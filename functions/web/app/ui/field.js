import { html, useRef } from '../vendor/preact.js';

let ids = 0;

/** An id that stays the same while the component is shown. @param {string} prefix */
export function useId(prefix) {
  const id = useRef('');
  id.current ||= `${prefix}-${(ids += 1)}`;
  return id.current;
}

/**
 * A labelled input with its hint and its error.
 * @param {object} props
 * @param {string} props.label
 * @param {unknown} [props.hint]
 * @param {unknown} [props.error]
 * @param {boolean} [props.isOptional]
 * @param {'textarea' | 'select'} [props.as] instead of an input
 * @param {unknown} [props.children] the options of a select
 * @param {unknown} [props.after] what stands behind the input in its row
 */
export function Field({ label, hint, error, isOptional = false, as = /** @type {any} */ ('input'), children, after, ...input }) {
  const id = useId('field');
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
    <label for=${id}>${label}${isOptional && html` <span class="optional">optional</span>`}</label>
    <div class="field-row">
      <${as} ...${input} id=${id} aria-invalid=${error ? 'true' : undefined} aria-describedby=${described || undefined}>${children}<//>
      ${after}
    </div>
    ${error && html`<p class="field-error" id=${`${id}-error`}>${error}</p>`}
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
  </div>`;
}

/**
 * A box with its sentence.
 * @param {{ label: unknown, hint?: unknown, checked: boolean, onChange: (checked: boolean) => void, disabled?: boolean, name?: string }} props
 */
export function Checkbox({ label, hint, checked, onChange, ...input }) {
  const id = useId('box');
  return html`<div class="checkbox">
    <input
      ...${input}
      type="checkbox"
      id=${id}
      checked=${checked}
      aria-describedby=${hint ? `${id}-hint` : undefined}
      onChange=${(/** @type {any} */ event) => onChange(event.target.checked)}
    />
    <label for=${id}>${label}</label>
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
  </div>`;
}
