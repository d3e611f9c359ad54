import { html } from '../../vendor/preact.js';
import { number } from '../../core/format.js';
import { useCountdown } from '../../ui/states.js';

/** How far many links have come; the seconds of a pause aren't said aloud. @param {{ progress: import('./bulk.js').Progress }} props */
export function ProgressText({ progress }) {
  const wait = useCountdown(progress);
  return html`${number(progress.done)} of ${number(progress.all)}…${wait > 0 && html` <span class="muted" aria-hidden="true">continues in ${wait} s</span>`}`;
}
