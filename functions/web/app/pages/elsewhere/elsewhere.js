// Shown while the address is of another workspace than the tab is in: goes there, or says why it can't.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { ApiError } from '../../core/api.js';
import { followSlug, href, route } from '../../core/router.js';
import { refreshMe, session, switchWorkspace } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { BringBack, ClosedWords, mayRestore } from '../../parts/closed/closed.js';
import { Button } from '../../ui/button.js';
import { Page } from '../../ui/page.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';

export function ElsewherePage() {
  const { slug, workspaces } = useStore(session);
  const { workspace } = useStore(route);
  const [failure, setFailure] = useState(/** @type {{ of: string, error: any } | undefined} */ (undefined));
  const error = failure?.of === workspace ? failure?.error : undefined;
  // Mails and notifications name a workspace by its id, since its slug may change. Which slug it has is known with the list.
  const named = workspaces?.find((one) => one.workspace_id === workspace);
  const mayBeNamed = !workspaces && ID.test(workspace ?? '');
  const closed = workspaces?.find((one) => one.slug === workspace && one.closed_at);
  useEffect(() => {
    if (workspace && named) followSlug(workspace, named.slug);
  }, [workspace, named]);
  useEffect(() => {
    // Which workspace the tab is in may not be known yet, and may turn out to be this one.
    if (workspace && slug && !named && !mayBeNamed && !closed && !error) enter(workspace).catch((reason) => setFailure({ of: workspace, error: reason }));
  }, [workspace, slug, named === undefined, mayBeNamed, closed === undefined, error]);
  useEffect(() => {
    // Somebody else may have brought it back.
    if (closed) void refreshMe();
  }, [workspace]);

  if (closed) return html`<${Closed} workspace=${closed} />`;
  if (error?.code === 'workspace_not_found') {
    return html`<${Page} title="You’re not in this workspace">
      <${Empty} title=${html`This page belongs to “<bdi>${workspace}</bdi>”`} action=${html`<${Button} href=${href('links')}>Go to your links<//>`}>
        You aren’t a member. Ask for an invitation, or sign in with another account.
      <//>
    <//>`;
  }
  if (error) {
    return html`<${Page} title="Another workspace"><${Failure} what="Couldn’t open the workspace." error=${error} retry=${() => setFailure(undefined)} /><//>`;
  }
  return html`<${Page} title="Another workspace"><${Skeleton} rows=${5} height=${56} /><//>`;
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Goes there. Why that can't be, the list of workspaces may say once it is read again. @param {string} slug */
async function enter(slug) {
  try {
    await switchWorkspace(slug);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'workspace_not_found') await refreshMe();
    throw error;
  }
}

/** @param {{ workspace: import('../../core/session.js').MyWorkspace }} props */
function Closed({ workspace }) {
  const title = `${workspace.name} is closed`;
  const actions = html`<p class="row centred">
    ${mayRestore(workspace) && html`<${BringBack} workspace=${workspace} kind="primary" />`}
    <${Button} href=${href('links')}>Go to your links<//>
  </p>`;
  return html`<${Page} title=${title} heading=${html`<bdi>${workspace.name}</bdi> is closed`}>
    <${Empty} title="Its links don’t work" action=${actions}>
      <${ClosedWords} workspace=${workspace} />
      ${mayRestore(workspace) && ' After that, it’s permanently deleted with its statistics.'}
    <//>
  <//>`;
}
