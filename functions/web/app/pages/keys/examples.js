// Commands that work as they are, but for the key.

import { html, useState } from '../../vendor/preact.js';
import { apiUrl } from '../../core/address.js';
import { Choice } from '../../ui/chips.js';
import { CopyButton } from '../../ui/copy.js';
import { Card } from '../../ui/page.js';

/** Stands for the key where none was made just now. */
const PLACEHOLDER = '$LINKLET_KEY';

/** @typedef {{ id: string, title: string, scope: string, command: (key: string) => string }} Example */

/** @param {string} key */
const header = (key) => `-H "X-API-Key: ${key}"`;

/** @type {Example[]} */
const EXAMPLES = [
  {
    id: 'make',
    title: 'Create a link',
    scope: 'links:write',
    command: (key) =>
      [`curl ${apiUrl('/api/shorten')}`, header(key), '-H "Content-Type: application/json"', `-d '{"url": "https://example.com/a/long/page", "tags": ["spring"]}'`].join(' \\\n  '),
  },
  {
    id: 'list',
    title: 'List links',
    scope: 'links:read',
    command: (key) => [`curl "${apiUrl('/api/links')}?per_page=10&sort=clicks"`, header(key)].join(' \\\n  '),
  },
  {
    id: 'change',
    title: 'Update a link',
    scope: 'links:write',
    command: (key) =>
      [`curl -X PATCH ${apiUrl('/api/links/CODE')}`, header(key), '-H "Content-Type: application/json"', `-d '{"title": "Spring sale"}'`].join(' \\\n  '),
  },
  {
    id: 'count',
    title: 'Get clicks',
    scope: 'analytics:read',
    command: (key) => [`curl "${apiUrl('/api/stats/CODE/daily')}"`, header(key)].join(' \\\n  '),
  },
];

/** Those that a key with these scopes can do. @param {string[]} scopes */
export const examplesFor = (scopes) => EXAMPLES.filter(({ scope }) => scopes.includes(scope));

export function Examples() {
  const [chosen, setChosen] = useState('make');
  const example = /** @type {Example} */ (EXAMPLES.find(({ id }) => id === chosen));
  const options = EXAMPLES.map(({ id, title }) => ({ value: id, label: title }));
  return html`<${Card} title="Using a key">
    <div class="stack">
      <div><${Choice} label="Example" value=${chosen} options=${options} onChange=${setChosen} /></div>
      <${CodeExample} example=${example} isUntitled />
      <p class="small-print">
        Set <code>LINKLET_KEY</code> to your key first, or replace <code>${PLACEHOLDER}</code> with it.${' '}
        <a href="api/docs">API reference</a>
      </p>
    </div>
  <//>`;
}

/** @param {{ example: Example, apiKey?: string, isUntitled?: boolean }} props */
export function CodeExample({ example, apiKey = PLACEHOLDER, isUntitled = false }) {
  const command = example.command(apiKey);
  return html`<figure class="example">
    ${!isUntitled && html`<figcaption>Example: ${example.title}</figcaption>`}
    <pre class="code" tabindex="0" role="region" aria-label=${`Command: ${example.title}`}>${command}</pre>
    <div class="example-foot">
      <p class="small-print">Requires <code>${example.scope}</code></p>
      <${CopyButton} text=${command}>Copy command<//>
    </div>
  </figure>`;
}
