// The sessions of the person: where each is, and a way to end it.

import { html } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { regionName } from '../../core/format.js';
import { useResource } from '../../core/resource.js';
import { Button } from '../../ui/button.js';
import { Chip } from '../../ui/chips.js';
import { Loaded } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { useLaterFocus } from '../../ui/later-focus.js';
import { toast, toastFailure } from '../../ui/toast.js';

/** @typedef {{ id: string, began_at: string, renewed_at: string | null, expires_at: string, device: string | null, country: string | null, is_current: boolean, remembered: boolean }} OneSession */

/** The latest ones. @typedef {{ sessions: OneSession[], has_more: boolean }} Listed */

export function Sessions() {
  const resource = useResource('sessions', () => call('GET /api/me/sessions'));
  return html`<${Loaded} of=${resource} what="Couldn’t load your sessions.">
    ${(/** @type {Listed} */ { sessions, has_more }) => html`<${SessionList} sessions=${currentFirst(sessions)} hasMore=${has_more} resource=${resource} />`}
  <//>`;
}

/** @param {OneSession[]} sessions */
const currentFirst = (sessions) => [...sessions.filter(({ is_current }) => is_current), ...sessions.filter(({ is_current }) => !is_current)];

/** @param {{ sessions: OneSession[], hasMore: boolean, resource: import('../../core/resource.js').Resource<Listed> }} props */
function SessionList({ sessions, hasMore, resource }) {
  const { part, focusLater } = useLaterFocus();

  /** @param {OneSession} ended */
  async function end(ended) {
    resource.change((list) => ({ ...list, sessions: list.sessions.filter(({ id }) => id !== ended.id) }));
    // The button that was pressed is gone.
    focusLater('.button, .session-rest');
    try {
      await call('DELETE /api/me/sessions/{id}', { path: { id: ended.id } });
      toast('The session ends within a minute.');
    } catch (error) {
      toastFailure('Couldn’t end the session.', error);
      await resource.reload();
    }
  }

  return html`<div ref=${part}>
    <ul class="lines" aria-label="Sessions">
      ${sessions.map((one) => html`<${Line} key=${one.id} session=${one} onEnd=${() => end(one)} />`)}
    </ul>
    ${(hasMore || sessions.every(({ is_current }) => is_current)) && html`<p class="muted session-rest" tabindex="-1">${hasMore ? MORE : 'You’re not signed in anywhere else.'}</p>`}
  </div>`;
}

const MORE = 'Only the latest 100 are shown. “Sign out everywhere” ends the others too.';

/** @param {{ session: OneSession, onEnd: () => void }} props */
function Line({ session: { began_at, renewed_at, expires_at, device, country, is_current, remembered }, onEnd }) {
  const place = [device ?? 'Unknown device', country && regionName(country)].filter(Boolean).join(', ');
  return html`<li>
    <span class="line-text">
      <bdi class="line-title">${place}</bdi>
      <span class="small-print">
        Signed in <${Time} at=${began_at} isInText />${renewed_at && html` · last used <${Time} at=${renewed_at} isInText />`}
        ${' '}· ${remembered ? 'stays signed in until' : 'expires'} <${Time} at=${expires_at} isInText />
      </span>
    </span>
    ${is_current ? html`<${Chip}>This session<//>` : html`<${Button} class="compact" onClick=${onEnd}>Sign out<span class="hidden"> (${place})</span><//>`}
  </li>`;
}
