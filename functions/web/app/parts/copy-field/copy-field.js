import { html } from '../../vendor/preact.js';
import { CopyButton } from '../../ui/copy.js';
import { Field } from '../../ui/field.js';

/**
 * A text that somebody has to take with them: it is selected at a click, and copied by the button.
 * @param {{ label: string, text: string, hint?: unknown }} props
 */
export function CopyField({ label, text, hint }) {
  const select = (/** @type {any} */ event) => event.target.select();
  const copy = html`<${CopyButton} kind="primary" text=${text}>Copy<//>`;
  return html`<${Field} label=${label} hint=${hint} class="code-input" readonly spellcheck="false" value=${text} onFocus=${select} after=${copy} />`;
}
