// All that is stored about the person, as one file.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { counted } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { Failure } from '../../ui/states.js';

/** @typedef {{ items: object[], cursor: string | null | undefined }} Progress how much was read; without a cursor, nothing or all */

const NOTHING = { items: [], cursor: undefined };

export function MyData() {
  const { part, focusLater } = useLaterFocus();
  // What can be pressed goes with the reading. Whoever is elsewhere stays there.
  const { count, error, state, begin, end } = useExport(() => part.current?.contains(document.activeElement) && focusLater('.failure > .button'));
  const goOn = () => {
    focusLater('.row > .button');
    begin();
  };
  return html`<div ref=${part} class="stack">
    <p>One JSON file with your account, workspaces, sessions, API keys, notifications and audit log, and your links, monitored URLs and jobs. It doesn’t include passwords or the keys themselves.</p>
    ${error && html`<${Failure} what=${count ? `The export stopped after ${counted(count, 'entry', 'entries')}.` : 'Couldn’t load your data.'} error=${error} retry=${goOn} />`}
    <p class="row">
      ${state === 'busy' ? html`<${Button} onClick=${end}>Cancel<//>` : !error && html`<${Button} icon="save" onClick=${begin}>Download my data<//>`}
      <span class="muted" role="status">${state === 'busy' && `${counted(count, 'entry', 'entries')} so far…`}${state === 'done' && `Saved: ${counted(count, 'entry', 'entries')}.`}</span>
    </p>
  </div>`;
}

/** Reads part by part, and goes on where it failed. @param {() => void} beforeFailure called before one is shown */
function useExport(beforeFailure) {
  const progress = useRef(/** @type {Progress} */ (NOTHING));
  const running = useRef(/** @type {AbortController | undefined} */ (undefined));
  const [shown, setShown] = useState({ state: /** @type {'' | 'busy' | 'done'} */ (''), count: 0, error: /** @type {any} */ (undefined) });

  function end() {
    running.current?.abort();
    progress.current = NOTHING;
    setShown({ state: '', count: 0, error: undefined });
  }

  async function begin() {
    const { signal } = (running.current = new AbortController());
    const tell = (/** @type {typeof shown['state']} */ state, /** @type {any} */ error = undefined) => signal.aborted || setShown({ state, count: progress.current.items.length, error });
    tell('busy');
    try {
      const { patiently, saveJson } = await import('../../parts/download/download.js');
      do {
        const part = await patiently('entries', () => call('GET /api/me/export', { query: { after: progress.current.cursor }, signal }));
        signal.throwIfAborted();
        progress.current = { items: [...progress.current.items, ...part.items], cursor: part.next_cursor };
        tell('busy');
      } while (progress.current.cursor);
      const now = new Date().toISOString();
      saveJson(`linklet-${now.slice(0, 10)}`, { exported_at: now, items: progress.current.items });
      tell('done');
      progress.current = NOTHING;
    } catch (error) {
      beforeFailure();
      tell('', error);
    }
  }

  useEffect(() => () => running.current?.abort(), []);
  return { ...shown, begin, end };
}
