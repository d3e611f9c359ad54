import { html } from '../vendor/preact.js';
import { fullTime, moment } from '../core/format.js';

/**
 * A point in time as people read it, with the whole of it as a tooltip.
 * @param {{ at: string, children?: unknown }} props `children` is shown instead
 */
export function Time({ at, children }) {
  return html`<time datetime=${at} title=${fullTime(at)}>${children ?? moment(at)}</time>`;
}
