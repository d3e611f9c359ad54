import { html } from '../vendor/preact.js';
import { fullTime, moment, momentInText } from '../core/format.js';

/**
 * A point in time as people read it, with the whole of it as a tooltip.
 * @param {{ at: string, isInText?: boolean, children?: unknown }} props `children` is shown instead
 */
export function Time({ at, isInText = false, children }) {
  return html`<time datetime=${at} title=${fullTime(at)}>${children ?? (isInText ? momentInText : moment)(at)}</time>`;
}
