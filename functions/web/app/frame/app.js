// What is shown: the way in, or the application in its frame.

import { html, useEffect } from '../vendor/preact.js';
import { ELSEWHERE, NOWHERE, PAGES, pageOf } from '../pages.js';
import { completeAddress, href, navigate, route } from '../core/router.js';
import { session } from '../core/session.js';
import { useStore } from '../core/store.js';
import { applyTheme } from '../core/theme.js';
import { Questions } from '../ui/dialog.js';
import { Lazy } from '../ui/lazy.js';
import { Toasts } from '../ui/toast.js';
import { Frame } from './frame.js';
import { OfflineBar } from './offline.js';
import { PageHost } from './page-host.js';

const SIGN_IN = /** @type {import('../pages.js').PageEntry} */ (PAGES.find((page) => page.path === 'sign-in'));
// Where somebody who is signed in has nothing to do.
const ONLY_WITHOUT_SESSION = ['sign-in', 'sign-up', 'forgot'];

export function App() {
  const { status, isNowhere, hasFailed, slug, removals } = useStore(session);
  const { workspace, parts, query } = useStore(route);
  const page = pageOf(parts);
  const isIn = status === 'in' || status === 'over';

  useEffect(applyTheme, []);
  useEffect(() => {
    const refused = query.get('refused');
    if (isIn && ONLY_WITHOUT_SESSION.includes(parts[0])) navigate(refused ? `#/signed-in?refused=${refused}` : href('links'), { replace: true });
  }, [isIn, parts[0]]);

  const isAlone = page?.isPublic || !isIn;
  const isWithoutWorkspace = isIn && !isAlone && slug !== undefined && workspace === undefined;
  useEffect(() => {
    if (isWithoutWorkspace) completeAddress(slug);
  }, [isWithoutWorkspace]);
  useEffect(() => {
    if (removals) import('../parts/closed/closed.js').then(({ sayWhatWasLost }) => sayWhatWasLost(), () => {});
  }, [removals]);

  if (status === 'starting') return hasFailed ? html`<main id="main" class="alone"><p role="status">Linklet can’t be reached. Trying again…</p></main>` : null;
  // Who isn't signed in, or is in no workspace, stays at the address that they wanted, and is there afterwards.
  const isElsewhere = workspace !== undefined && workspace !== slug;
  const instead = isAlone ? SIGN_IN : isNowhere ? page?.path !== 'account' && NOWHERE : isElsewhere && ELSEWHERE;
  const shown = (!page?.isPublic && instead) || page;
  return html`<${OfflineBar} />
    ${isAlone ? html`<main id="main" class="alone"><${PageHost} page=${shown} /></main>` : html`<${Frame} page=${shown} />`}
    ${status === 'over' && html`<${Lazy} load=${() => import('../parts/session-over/session-over.js')} name="SessionOver" />`}
    <${Questions} /><${Toasts} />`;
}
