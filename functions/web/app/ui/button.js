import { html } from '../vendor/preact.js';
import { Icon } from './icons.js';

/**
 * A button, or a link that looks like one if it has an `href`.
 * @param {object} props
 * @param {unknown} [props.children] its text
 * @param {import('./icons.js').IconName} [props.icon]
 * @param {string} [props.label] its name, if it shows an icon only
 * @param {'primary' | 'plain' | 'quiet' | 'danger'} [props.kind]
 * @param {boolean} [props.isBusy] shows that it works
 * @param {string} [props.href]
 * @param {string} [props.type]
 * @param {string} [props.class]
 */
export function Button({ children, icon, label, kind = 'plain', isBusy = false, href, type = 'button', ...others }) {
  const classes = `button ${kind} ${children ? '' : 'square'} ${others.class ?? ''}`;
  const inner = html`${isBusy ? html`<span class="spinner" aria-hidden="true"></span>` : icon && html`<${Icon} name=${icon} />`}${children &&
  html`<span>${children}</span>`}`;
  const named = { ...others, class: classes, ...(label ? { 'aria-label': label, title: label } : {}) };
  if (href) return html`<a ...${named} href=${href}>${inner}</a>`;
  return html`<button ...${named} type=${type} aria-busy=${isBusy}>${inner}</button>`;
}
