// The workspace at a glance.

import { html, useEffect } from '../../vendor/preact.js';
import { href, navigate, route } from '../../core/router.js';
import { mayAct, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { ReportMenu } from '../../parts/reports/reports.js';
import { Page } from '../../ui/page.js';
import { FirstRun } from '../links/first-run.js';
import { Create } from './create.js';
import { AsOf, Look, useLook } from './look.js';
import { keptOf } from './time.js';

export { TagPage } from './tag.js';

export function OverviewPage() {
  const tag = useStore(route).query.get('tag');
  return tag ? html`<${ToTag} tag=${tag} />` : html`<${WholeWorkspace} />`;
}

/** The links with a tag have a page of their own. @param {{ tag: string }} props */
function ToTag({ tag }) {
  useEffect(() => navigate(href(['tags', tag], keptOf(route.get().query)), { replace: true }), [tag]);
  return html`<${Page} title="Overview" />`;
}

function WholeWorkspace() {
  useStore(session);
  const look = useLook('');
  const { links } = look.known?.overview ?? {};
  const isNew = links !== undefined && links.total + links.archived === 0 && mayAct('member');
  return html`<${Page} title="Overview" actions=${html`<${AsOf} known=${look.known} /><${ReportMenu} />`}>
    ${mayAct('member') && html`<${Create} />`}
    ${isNew ? html`<${FirstRun} />` : html`<${Look} ...${look} />`}
  <//>`;
}
