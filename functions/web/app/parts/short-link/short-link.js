// Offers the destination of somebody else's short link in its place, since a link that leads to another one depends on both.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { guessUrl } from '../../core/address.js';
import { ApiError, call } from '../../core/api.js';
import { withoutScheme } from '../../core/format.js';
import { Button } from '../../ui/button.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { FormFailure, Notice } from '../../ui/states.js';
import { isShort } from './shorteners.js';

/** @typedef {{ from: string, to: string, status: number }} Found `from` is what was typed */

/**
 * Shows nothing while the text is no short link and no destination that it has found.
 * @param {{ text: string, onText: (text: string) => void }} props what the field has
 */
export function ShortLink({ text, onText }) {
  const [found, setFound] = useState(/** @type {Found | undefined} */ (undefined));
  const [failed, setFailed] = useState(/** @type {{ from: string, error: ApiError } | undefined} */ (undefined));
  const [asked, setAsked] = useState('');
  const [isReady, setReady] = useState(false);
  const { part, focusLater } = useLaterFocus();
  const now = useRef(text);
  now.current = text;
  // A screen reader reads what comes into an element that is there already.
  useEffect(() => setReady(true), []);

  const url = guessUrl(text);
  async function resolve() {
    if (asked === text) return;
    setAsked(text);
    setFailed(undefined);
    try {
      const { url: to, hops, status } = await call('POST /api/resolve', { body: { url } });
      if (hops === 0) throw new ApiError('problem', 'It doesn’t redirect.');
      // What was typed meanwhile stays.
      if (now.current !== text) return;
      setFound({ from: text, to, status });
      onText(to);
      focusLater('button');
    } catch (error) {
      setFailed({ from: text, error: error instanceof ApiError ? error : new ApiError('broken', 'Something went wrong.') });
    } finally {
      setAsked('');
    }
  }

  /** @param {Found} replaced */
  function undo({ from }) {
    setFound(undefined);
    onText(from);
    focusLater('button');
  }

  const isFound = found !== undefined && found.to === text;
  const isOffered = !isFound && url !== undefined && isShort(url);
  return html`<div ref=${part} style=${{ display: 'contents' }}>
    <p class="hidden" role="status">${isReady && (isFound ? 'Replaced with its destination.' : isOffered && 'This is a short link.')}</p>
    ${isFound && html`<${Replaced} found=${found} onUndo=${() => undo(found)} />`}
    ${isOffered &&
    html`<div class="kept">
      <span>This is a short link. <${Button} isBusy=${asked === text} onClick=${resolve}>Use its destination instead<//></span>
    </div>`}
    ${isOffered && failed?.from === text && html`<${Unresolved} error=${failed.error} />`}
  </div>`;
}

/** @param {{ found: Found, onUndo: () => void }} props */
function Replaced({ found: { from, to, status }, onUndo }) {
  return html`<div class="kept">
      <span><bdi>${withoutScheme(from)}</bdi> → <bdi>${withoutScheme(to)}</bdi> <${Button} onClick=${onUndo}>Undo<//></span>
    </div>
    ${status >= 400 && html`<${Notice} tone="warn">This page returned an error (${status}). Check that it works.<//>`}`;
}

/** Why there is no destination, and what to do. @param {{ error: ApiError }} props */
const Unresolved = ({ error }) => html`<${FormFailure} error=${error} />
  <p class="hint">You can paste the destination, or keep the short link.</p>`;
