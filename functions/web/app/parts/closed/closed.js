// A workspace that was closed: until when it can be brought back, and the way back.

import { html, useState } from '../../vendor/preact.js';
import { ApiError, call } from '../../core/api.js';
import { exactMomentInText } from '../../core/format.js';
import { href, navigate } from '../../core/router.js';
import { currentWorkspace, refreshMe, session, switchWorkspace } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { isLeftWillingly } from '../../frame/workspaces.js';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/chips.js';
import { Card } from '../../ui/page.js';
import { Time } from '../../ui/time.js';
import { toast, toastFailure } from '../../ui/toast.js';

/** @typedef {import('../../core/session.js').MyWorkspace} MyWorkspace */

/** A moment after it was brought back it may not be known everywhere. */
const OPENED_WITHIN_MS = 30_000;
const LOOKED_EVERY_MS = 1_500;

/** Whether there is still time. @param {MyWorkspace} workspace */
const isRestorable = ({ restorable_until: until }) => until !== null && Date.parse(until) > Date.now();

/** Whether one may bring it back oneself. @param {MyWorkspace} workspace */
export const mayRestore = (workspace) => workspace.role === 'admin' && isRestorable(workspace);

/** When it was closed, and what can still be done about it. @param {{ workspace: MyWorkspace }} props */
export function ClosedWords({ workspace }) {
  const { role } = workspace;
  const [closed_at, restorable_until] = [workspace.closed_at ?? '', workspace.restorable_until ?? ''];
  const closed = html`Closed <${Time} at=${closed_at} isInText />.`;
  if (!isRestorable(workspace)) return html`${closed} It’s being permanently deleted.`;
  const until = html`until <${Time} at=${restorable_until}>${exactMomentInText(restorable_until)}<//>`;
  return role === 'admin' ? html`${closed} You can restore it ${until}.` : html`${closed} An admin can restore it ${until}.`;
}

/** @param {{ workspace: MyWorkspace, kind?: 'primary', class?: string }} props */
export function BringBack({ workspace, kind, class: classes }) {
  const [isBusy, setBusy] = useState(false);
  if (!mayRestore(workspace)) return html`<${Status} tone="warn">Closed<//>`;
  const act = async () => {
    setBusy(true);
    await bringBack(workspace);
    setBusy(false);
  };
  return html`<${Button} kind=${kind} class=${classes} icon="refresh" isBusy=${isBusy} onClick=${act}>Restore<span class="hidden"> (${workspace.name})</span><//>`;
}

/** Opens it again, and goes there. @param {MyWorkspace} workspace */
export async function bringBack({ workspace_id: id, name, slug }) {
  if (!(await isLeftWillingly())) return;
  try {
    await call('POST /api/workspaces/{id}/restore', { path: { id } }).catch(unlessOpen);
    await enterOnceOpen(slug);
    toast(`${name} is restored. Its links work again within a few minutes.`);
  } catch (error) {
    toastFailure(`Couldn’t open ${name}.`, error);
    await refreshMe();
  }
}

/** Another admin may have been faster. @param {unknown} error */
function unlessOpen(error) {
  if (!(error instanceof ApiError) || error.code !== 'workspace_open') throw error;
}

/** @param {string} slug */
async function enterOnceOpen(slug) {
  const until = Date.now() + OPENED_WITHIN_MS;
  for (;;) {
    try {
      return await switchWorkspace(slug);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'workspace_not_found' || Date.now() > until) throw error;
      await new Promise((done) => setTimeout(done, LOOKED_EVERY_MS));
    }
  }
}

/** Why one isn't in the workspace any more in which one was, and what can be done about it. */
export function sayWhatWasLost() {
  const { isNowhere, workspaces, lost } = session.get();
  const there = isNowhere ? 'no workspace' : currentWorkspace()?.name ?? 'another one';
  const closed = workspaces?.find(({ slug, closed_at }) => closed_at && slug === lost);
  const why = closed ? `${closed.name} was closed.` : 'You’re no longer a member of that workspace.';
  const look = { label: 'Details', act: () => navigate(href('links', {}, lost)) };
  // In no workspace, one is shown it anyway.
  toast(`${why} You’re now in ${there}.`, { actions: closed && !isNowhere ? [look] : [] });
}

/** Those of the person that were closed; nothing if none was. */
export function ClosedWorkspaces() {
  const closed = (useStore(session).workspaces ?? []).filter(({ closed_at }) => closed_at);
  if (closed.length === 0) return null;
  return html`<${Card} title=${closed.length === 1 ? 'A workspace was closed' : 'Workspaces were closed'}>
    <p class="muted">The links of a closed workspace don’t work. Unless it’s restored within 7 days, it’s permanently deleted with its statistics.</p>
    <ul class="lines">
      ${closed.map(
        (workspace) => html`<li key=${workspace.workspace_id}>
          <span class="workspace-mark" aria-hidden="true">${[...workspace.name][0].toUpperCase()}</span>
          <span class="line-text">
            <bdi class="line-title">${workspace.name}</bdi>
            <span class="small-print"><${ClosedWords} workspace=${workspace} /></span>
          </span>
          <${BringBack} workspace=${workspace} kind=${closed.length === 1 ? 'primary' : undefined} />
        </li>`,
      )}
    </ul>
  <//>`;
}
