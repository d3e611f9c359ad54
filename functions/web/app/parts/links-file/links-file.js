// Saves all links that a filter finds as a table, and says how far it has come.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { counted, number } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { Failure, useCountdown } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { begin, LINKS_HEAD, readOn, tableOfLinks } from './links.js';

/** @typedef {import('../../pages/links/filter.js').Filter} Filter */

/** @param {{ filter: Filter, onEnd: () => void }} props */
export function LinksFile({ filter: shown, onEnd }) {
  // Of the list as it was, whatever is shown meanwhile.
  const [filter] = useState(shown);
  const reading = useRef(begin(filter));
  const running = useRef(/** @type {AbortController | undefined} */ (undefined));
  const [state, setState] = useState(/** @type {{ error?: any, retryAfter?: number }} */ ({}));
  const wait = useCountdown(state);
  const { links, total } = reading.current;

  async function run() {
    const { signal } = (running.current = new AbortController());
    setState({});
    try {
      await readOn(filter, reading.current, { signal, tell: (retryAfter) => setState({ retryAfter }) });
      await save();
      onEnd();
    } catch (error) {
      if (!signal.aborted) setState({ error });
    }
  }

  async function save() {
    const { links: found, isByPage } = reading.current;
    if (found.size === 0) return toast('There are no links to download.');
    const { saveTable, tableOf } = await import('../../parts/download/download.js');
    saveTable(tableOf(`links-${new Date().toISOString().slice(0, 10)}`, LINKS_HEAD, tableOfLinks([...found.values()])));
    const isUnsorted = filter.sort === 'last_click' && !isByPage;
    toast(`${counted(found.size, 'link')} downloaded.${isUnsorted ? ' There are too many to sort by the last click, so the newest come first.' : ''}`);
  }

  useEffect(() => {
    void run();
    return () => running.current?.abort();
  }, []);

  const { error } = state;
  return html`<div class="row saving" style=${{ gridColumn: '1 / -1', width: '100%' }}>
    ${error
      ? html`<${Failure} what=${links.size > 0 ? `The download stopped after ${counted(links.size, 'link')}.` : 'Couldn’t download the links.'} error=${error} retry=${run} />`
      : html`<span class="spinner" aria-hidden="true"></span>`}
    <span class=${error ? 'hidden' : 'muted'} role="status">${!error && `Downloading links: ${number(links.size)}${total === null ? '' : ` of ${number(total)}`}…`}</span>
    ${wait > 0 && !error && html`<span class="muted" aria-hidden="true">continues in ${wait} s</span>`}
    <${Button} class="compact" onClick=${onEnd}>${error ? 'Cancel' : 'Stop'}<//>
  </div>`;
}
