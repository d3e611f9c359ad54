// Big numbers side by side, each with what has changed since the time before.

import { html } from '../../vendor/preact.js';
import { number } from '../../core/format.js';
import { SkeletonText } from '../../ui/states.js';

const changeFormat = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });
const MOST_PERCENT = 10;

/** @param {{ label: string, children: unknown }} props */
export const Figures = ({ label, children }) => html`<dl class="figures" aria-label=${label}>${children}</dl>`;

/**
 * @param {object} props
 * @param {string} props.label
 * @param {string} [props.hint] what is counted
 * @param {string} [props.value] none while it isn't known
 * @param {string} [props.title] the whole value
 * @param {boolean} [props.isText] whether it is words, which are smaller
 * @param {{ now: number, before: number | null }} [props.change]
 * @param {string} [props.than] the time before, such as `the 30 days before`
 * @param {string} [props.note]
 */
export function Figure({ label, hint, value, title, isText = false, change, than = '', note }) {
  return html`<div class="figure card">
    <dt title=${hint}>${label}</dt>
    <dd class=${`figure-value ${isText ? 'text' : ''}`} title=${title}>${value ?? html`<${SkeletonText} width=${72} />`}</dd>
    <dd class="figure-note">${change && html`<${Change} ...${change} than=${than} />`}${note && html`<span>${note}</span>`}</dd>
  </div>`;
}

/**
 * How much more or less it is than before; nothing if there was no time before.
 * @param {{ now: number, before: number | null, than: string, isBrief?: boolean }} props `isBrief` where something else says what it is compared with
 */
export function Change({ now, before, than, isBrief = false }) {
  if (before === null) return null;
  const when = than.startsWith('the ') ? `in ${than}` : `(${than})`;
  const text = `${number(Math.round(before * 10) / 10)} ${when}`;
  const against = !isBrief && html`<span class="against" aria-hidden="true"> vs. ${than}</span>`;
  if (now === before) return html`<span class="change" title=${text}>=<span class="hidden"> the same as ${when}</span>${against}</span>`;
  const isMore = now > before;
  const share = before === 0 ? Infinity : Math.abs(now - before) / before;
  const amount = share === Infinity ? 'new' : share >= MOST_PERCENT ? `× ${number(Math.round(now / before))}` : changeFormat.format(share);
  return html`<span class=${`change ${isMore ? 'good' : 'bad'}`} title=${text}>
    <i aria-hidden="true">${isMore ? '▲' : '▼'}</i>${amount}<span class="hidden">${isMore ? ' more' : ' fewer'} than ${text}</span>${against}
  </span>`;
}
