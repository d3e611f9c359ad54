import { html } from '../vendor/preact.js';

/**
 * What is known of something: names with their values.
 * @param {{ rows: ({ name: string, value: unknown } | false | '' | undefined)[] }} props
 */
export function Facts({ rows }) {
  return html`<dl class="fact-list">
    ${rows.map((row) => row && html`<div key=${row.name}><dt>${row.name}</dt><dd>${row.value}</dd></div>`)}
  </dl>`;
}
