// The links with a tag at a glance.

import { html, useRef, useState } from '../../vendor/preact.js';
import { href, route } from '../../core/router.js';
import { mayAct } from '../../core/session.js';
import { ReportMenu } from '../../parts/reports/reports.js';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icons.js';
import { Lazy } from '../../ui/lazy.js';
import { Page } from '../../ui/page.js';
import { Empty } from '../../ui/states.js';
import { AsOf, Look, useLook } from './look.js';

const loadShare = () => import('../../parts/share/share.js');

/** What can't stand in a path of the API. */
const UNSHARED = /[/?%]/;

export function TagPage() {
  const [isSharing, setSharing] = useState(false);
  const close = () => setSharing(false);
  const asked = useRef(route.get().parts[1]).current;
  const look = useLook(asked);
  const { overview } = look.known ?? {};
  const tag = overview?.tag ?? asked;
  if (overview && overview.links.total + overview.links.archived === 0) return html`<${Nowhere} tag=${tag} />`;
  const heading = html`<span class="tag-heading"><${Icon} name="tag" /><span class="hidden">Tag </span><bdi>${tag}</bdi></span>`;
  const actions = html`<${AsOf} known=${look.known} /><${Button} icon="links" href=${href('links', { tag })}>Links<//>
    ${mayAct('member') && !UNSHARED.test(tag) && html`<${Button} icon="chart" aria-label="Share statistics" onClick=${() => setSharing(true)}>Share<//>`}
    <${ReportMenu} tag=${tag} />`;
  return html`<${Page} title=${tag} heading=${heading} actions=${actions}><${Look} ...${look} />
    ${isSharing && html`<${Lazy} load=${loadShare} name="ShareDialog" tag=${tag} onFailure=${close} onClose=${close} />`}
  <//>`;
}

/** @param {{ tag: string }} props */
const Nowhere = ({ tag }) => html`<${Page} title=${tag} isTitleHidden>
  <${Empty} title="No links have this tag" action=${html`<${Button} href=${href('tags')}>All tags<//>`}><p><bdi>${tag}</bdi></p><//>
<//>`;
