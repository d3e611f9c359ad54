import { html, useLayoutEffect, useRef, useState } from '../vendor/preact.js';
import { Icon } from './icons.js';
import { Lazy } from './lazy.js';

// While a password can be seen, it is a text: some browsers have a server check how texts are spelled.
const UNCORRECTED = { spellcheck: false, autocapitalize: 'none', autocorrect: 'off' };

let ids = 0;

/** An id that stays the same while the component is shown. @param {string} prefix */
export function useId(prefix) {
  const id = useRef('');
  id.current ||= `${prefix}-${(ids += 1)}`;
  return id.current;
}

/**
 * A labelled input with its hint and its error. A password can be looked at, and a new one says how strong it is.
 * @param {object} props
 * @param {string} props.label
 * @param {unknown} [props.hint]
 * @param {unknown} [props.error]
 * @param {boolean} [props.isOptional]
 * @param {'textarea' | 'select'} [props.as] instead of an input
 * @param {unknown} [props.children] the options of a select
 * @param {unknown} [props.after] what stands behind the input in its row
 * @param {string} [props.type]
 * @param {string} [props.autocomplete]
 * @param {any} [props.value]
 */
export function Field({ label, hint, error, isOptional = false, as = /** @type {any} */ ('input'), children, after, ...input }) {
  const id = useId('field');
  const [isShown, setShown] = useState(false);
  const isPassword = input.type === 'password';
  const isJudged = input.autocomplete === 'new-password' && Boolean(input.value);
  const described = [hint && `${id}-hint`, isJudged && `${id}-strength`, error && `${id}-error`].filter(Boolean).join(' ');
  const secret = isPassword ? { ...UNCORRECTED, type: isShown ? 'text' : 'password' } : {};
  return html`<div class="field">
    <label for=${id} id=${`${id}-label`}>${label}${isOptional && html` <span class="optional">optional</span>`}</label>
    ${isJudged && html`<${Lazy} load=${() => import('../parts/strength/strength.js')} name="StrengthMeter" id=${`${id}-strength`} of=${input.value} />`}
    <div class="field-row">
      <${as} ...${input} ...${secret} id=${id} aria-invalid=${error ? 'true' : undefined} aria-describedby=${described || undefined}>${children}<//>
      ${isPassword && html`<${Reveal} what=${`${id}-label`} isShown=${isShown} onChange=${setShown} />`}
      ${after}
    </div>
    ${error && html`<p class="field-error" id=${`${id}-error`}>${error}</p>`}
    ${hint && html`<p class="hint" id=${`${id}-hint`}>${hint}</p>`}
  </div>`;
}

/**
 * Shows a password until its form is sent, so that no browser takes it for a text and keeps it.
 * @param {{ what: string, isShown: boolean, onChange: (isShown: boolean) => void }} props `what` is the id of the field's label
 */
function Reveal({ what, isShown, onChange }) {
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  // Before somebody can send the form.
  useLayoutEffect(() => {
    const form = isShown ? button.current?.form : undefined;
    const hide = () => onChange(false);
    form?.addEventListener('submit', hide);
    return () => form?.removeEventListener('submit', hide);
  }, [isShown]);
  return html`<button
    ref=${button}
    type="button"
    class="button quiet square reveal"
    aria-label="Reveal"
    title="Reveal"
    aria-describedby=${what}
    aria-pressed=${isShown}
    onClick=${() => onChange(!isShown)}
  >
    <${Icon} name="eye" />
  </button>`;
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
