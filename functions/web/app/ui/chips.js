import { html } from '../vendor/preact.js';
import { Icon } from './icons.js';

/**
 * A small label; one that does something if it has `onClick` or `href`.
 * @param {{ children: unknown, onClick?: (event: Event) => void, href?: string, onRemove?: () => void, removeLabel?: string, isOn?: boolean, tone?: string, title?: string, label?: string }} props
 */
export function Chip({ children, onClick, href, onRemove, removeLabel, isOn, tone = '', title, label }) {
  const classes = `chip ${tone} ${isOn ? 'on' : ''}`;
  if (onRemove) {
    return html`<span class=${classes} title=${title}
      >${onClick
        ? html`<button type="button" class="chip-text" dir="auto" title=${label} aria-label=${label} onClick=${onClick}>${children}</button>`
        : html`<span class="chip-text" dir="auto">${children}</span>`}<button type="button" class="chip-remove" aria-label=${removeLabel ?? 'Remove'} title=${removeLabel} onClick=${onRemove}><${Icon} name="close" /></button
    ></span>`;
  }
  if (href) return html`<a class=${classes} href=${href} title=${title} aria-label=${label}><span class="chip-text" dir="auto">${children}</span></a>`;
  if (onClick) {
    return html`<button type="button" class=${classes} aria-pressed=${isOn} title=${title} aria-label=${label} onClick=${onClick}><span class="chip-text" dir="auto">${children}</span></button>`;
  }
  return html`<span class=${classes} title=${title}><span class="chip-text" dir="auto">${children}</span></span>`;
}

/**
 * One of a few, side by side.
 * @template {string} T
 * @param {{ label: string, value: T, options: { value: T, label: string }[], onChange: (value: T) => void }} props
 */
export function Choice({ label, value, options, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>
    ${options.map(
      (option) => html`<button type="button" aria-pressed=${option.value === value} onClick=${() => onChange(option.value)}>${option.label}</button>`,
    )}
  </div>`;
}

/** A word with a shape of its own, so that its colour isn't needed. @param {{ tone: 'good' | 'warn' | 'bad' | 'muted', children: unknown, title?: string }} props */
export function Status({ tone, children, title }) {
  return html`<span class=${`status ${tone}`} title=${title}><i aria-hidden="true"></i>${children}</span>`;
}
