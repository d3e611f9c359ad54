import { html } from '../../vendor/preact.js';
import { dashOf } from './options.js';

/** How a line is drawn, beside its name. @param {{ look: import('./options.js').Look }} props */
export function Swatch({ look }) {
  if (look === 'area' || look === 'line' || look === 'before' || look === 'running') return html`<i class=${`swatch ${look}`} aria-hidden="true"></i>`;
  return html`<svg class=${`swatch-line ${look}`} viewBox="0 0 28 4" width="28" height="4" aria-hidden="true" focusable="false"><path d="M0 2h28" stroke-dasharray=${dashOf(look).join(' ')} /></svg>`;
}
