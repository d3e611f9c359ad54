// What a workspace takes along as a file: read page by page, and joined.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { Button } from '../../ui/button.js';
import { Failure, useCountdown } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { save, sizeOf } from '../download/download.js';
import { begin, blobOf, readOn } from './reading.js';

/** @typedef {import('./reading.js').Wanted} Wanted */

/** @param {{ wanted: Wanted, onEnd: () => void }} props */
export function ExportFile({ wanted, onEnd }) {
  const reading = useRef(begin(wanted));
  const running = useRef(/** @type {AbortController | undefined} */ (undefined));
  const [state, setState] = useState(/** @type {{ error?: any, retryAfter?: number }} */ ({}));
  const wait = useCountdown(state);
  const { error } = state;
  const size = reading.current.size > 0 ? sizeOf(reading.current) : '';

  async function run() {
    const { signal } = (running.current = new AbortController());
    setState({});
    try {
      await readOn(wanted, reading.current, { signal, tell: (retryAfter) => setState({ retryAfter }) });
      save(blobOf(wanted, reading.current), `linklet-${wanted.list}-${new Date().toISOString().slice(0, 10)}.${wanted.format}`);
      toast(`${wanted.name} downloaded.`);
      onEnd();
    } catch (failure) {
      if (!signal.aborted) setState({ error: failure });
    }
  }

  useEffect(() => {
    void run();
    return () => running.current?.abort();
  }, []);

  return html`<div class="row saving">
    ${error
      ? html`<${Failure} what=${size ? `The download stopped after ${size}.` : `Couldn’t download this.`} error=${error} retry=${run} />`
      : html`<span class="spinner" aria-hidden="true"></span>`}
    <span class=${error ? 'hidden' : 'muted'} role="status">${!error && `Downloading ${wanted.name.toLowerCase()}…`}</span>
    ${!error && size && html`<span class="muted" aria-hidden="true">${size}</span>`}
    ${wait > 0 && !error && html`<span class="muted" aria-hidden="true">continues in ${wait} s</span>`}
    <${Button} class="compact" onClick=${onEnd}>${error ? 'Cancel' : 'Stop'}<//>
  </div>`;
}
