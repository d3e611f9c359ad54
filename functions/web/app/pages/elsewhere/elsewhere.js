// Shown while the address is of another workspace than the tab is in: goes there, or says why it can't.

import { html, useEffect, useState } from '../../vendor/preact.js';
import { href, route } from '../../core/router.js';
import { session, switchWorkspace } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Button } from '../../ui/button.js';
import { Page } from '../../ui/page.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';

export function ElsewherePage() {
  const { slug } = useStore(session);
  const { workspace } = useStore(route);
  const [failure, setFailure] = useState(/** @type {{ of: string, error: any } | undefined} */ (undefined));
  const error = failure?.of === workspace ? failure?.error : undefined;
  useEffect(() => {
    // Which workspace the tab is in may not be known yet, and may turn out to be this one.
    if (workspace && slug && !error) switchWorkspace(workspace).catch((reason) => setFailure({ of: workspace, error: reason }));
  }, [workspace, slug, error]);

  if (error?.code === 'workspace_not_found') {
    return html`<${Page} title="Not one of your workspaces">
      <${Empty} title=${html`This address is of “<bdi>${workspace}</bdi>”`} action=${html`<${Button} href=${href('links')}>To your links<//>`}>
        You aren’t a member of it. Ask whoever gave you the address for an invitation, or open it with another account.
      <//>
    <//>`;
  }
  if (error) {
    return html`<${Page} title="Another workspace"><${Failure} what="The workspace couldn’t be opened." error=${error} retry=${() => setFailure(undefined)} /><//>`;
  }
  return html`<${Page} title="Another workspace"><${Skeleton} rows=${5} height=${56} /><//>`;
}
