// A link: what it is, who follows it, and what can be done with it.

import { html, useRef, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { useResource } from '../../core/resource.js';
import { href, navigate, route } from '../../core/router.js';
import { useDestinations } from '../../core/lists.js';
import { mayAct, session } from '../../core/session.js';
import { useShortcuts } from '../../core/shortcuts.js';
import { useStore } from '../../core/store.js';
import { archive, deleteLink, purgeLink, toggle } from '../../parts/link-changes/link-changes.js';
import { Button } from '../../ui/button.js';
import { copyText } from '../../ui/copy.js';
import { Lazy } from '../../ui/lazy.js';
import { Page } from '../../ui/page.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { LinkButtons, LinkFacts, LinkHeading } from './head.js';
import { HistoryCard } from './history.js';
import { Traffic } from './traffic.js';

/** @typedef {import('../../core/lists.js').Link & { health?: import('./health.js').Health }} ShownLink */

/** @typedef {'qr' | 'share' | 'edit' | 'copy' | 'destination' | 'rules' | 'statistics'} Opening what lies over the page */

/** Where in the form one begins. @type {Record<string, import('../../parts/link-form/link-form.js').Place>} */
const FORM_PLACES = { edit: 'title', destination: 'destination', rules: 'rules', statistics: 'statistics' };

const READ_EVERY_MS = 30_000;

const loadForm = () => import('../../parts/link-form/link-form.js');
const loadQr = () => import('../../parts/qr/qr.js');
const loadShare = () => import('../../parts/share/share.js');
const loadRules = () => import('../../parts/rules/rules.js');

export function LinkPage() {
  const code = useRef(route.get().parts[1]).current;
  const resource = useResource(`link:${code}`, () => call('GET /api/links/{code}', { path: { code } }), { everyMs: READ_EVERY_MS });
  const link = /** @type {ShownLink | undefined} */ (resource.data);
  const { error } = resource;
  if (error?.status === 404) return html`<${Nowhere} code=${code} title="Link not found" text="Check the address. The link may also have been deleted." />`;
  if (error?.status === 410) return html`<${Nowhere} code=${code} title="This link no longer exists" text=${error.message} />`;
  if (!link && error) return html`<${Page} title=${code}><${Failure} what="Couldn’t load the link." error=${error} retry=${resource.reload} /><//>`;
  if (!link) return html`<${Page} title=${code}><${Skeleton} rows=${4} height=${72} /><//>`;
  return html`<${Known} link=${link} resource=${resource} />`;
}

/** @param {{ code: string, title: string, text: string }} props */
function Nowhere({ code, title, text }) {
  return html`<${Page} title=${code} isTitleHidden>
    <${Empty} title=${title} action=${html`<${Button} href=${href('links')}>All links<//>`}><p>${text}</p><//>
  <//>`;
}

/** @param {{ link: ShownLink, resource: import('../../core/resource.js').Resource<ShownLink> }} props */
function Known({ link, resource }) {
  const { me } = useStore(session);
  const [open, setOpen] = useState(/** @type {'' | Opening} */ (''));
  const mayChange = mayAct('admin') || (mayAct('member') && me?.user_id === link.created_by);
  const mayWrite = mayChange && link.status !== 'deleted';
  const destinations = useDestinations({ isWanted: mayWrite }).data;
  const mayLeadElsewhere = mayWrite && destinations === 'editable';
  const actions = useActions(resource, setOpen);
  const close = () => setOpen('');

  useShortcuts('This link', [
    { keys: 'y', text: 'Copy short URL', act: async () => (await copyText(link.short_url)) && toast('Copied.') },
    { keys: 'q', text: 'QR code', act: () => setOpen('qr') },
    ...(mayLeadElsewhere ? [{ keys: 'd', text: 'Change destination', act: actions.changeDestination }] : []),
    ...(link.has_rules || mayLeadElsewhere ? [{ keys: 'r', text: 'Rules and variants', act: actions.showRules }] : []),
    ...(mayWrite
      ? [
          { keys: 'e', text: 'Edit', act: () => setOpen('edit') },
          { keys: 'a', text: link.archived ? 'Unarchive' : 'Archive', act: actions.archive },
        ]
      : []),
  ]);

  const onSaved = (/** @type {ShownLink} */ saved, /** @type {boolean} */ isNew) => {
    if (isNew) navigate(href(`links/${saved.short_code}`));
    else resource.change((before) => ({ ...before, ...saved }));
  };
  const buttons = html`<${LinkButtons} link=${link} actions=${actions} mayChange=${mayChange} hasRules=${Boolean(link.has_rules) || mayLeadElsewhere} />`;
  return html`<${Page} title=${link.title || link.short_code} heading=${html`<${LinkHeading} link=${link} />`} actions=${buttons}>
    <${LinkFacts} link=${link} actions=${actions} mayLeadElsewhere=${mayLeadElsewhere} mayWrite=${mayWrite} />
    <${Traffic} link=${link} showQr=${() => setOpen('qr')} onNews=${resource.reload} />
    <${HistoryCard} code=${link.short_code} changedAt=${link.updated_at} />
    ${open === 'qr' && html`<${Lazy} load=${loadQr} name="QrDialog" link=${link} onFailure=${close} onClose=${close} />`}
    ${open === 'share' && html`<${Lazy} load=${loadShare} name="ShareDialog" code=${link.short_code} onFailure=${close} onClose=${close} />`}
    ${open === 'rules' && !mayWrite && html`<${Lazy} load=${loadRules} name="RulesDrawer" code=${link.short_code} target=${link.original_url} onFailure=${close} onClose=${close} />`}
    ${(open === 'copy' || (mayWrite && FORM_PLACES[open])) &&
    html`<${Lazy}
      load=${loadForm}
      name="LinkForm"
      key=${open}
      ...${open === 'copy' ? { template: link } : { link, at: FORM_PLACES[open] }}
      onSaved=${onSaved}
      onFailure=${close}
      onClose=${close}
      onCopy=${() => setOpen('copy')}
    />`}
  <//>`;
}

/**
 * What the buttons do.
 * @param {import('../../core/resource.js').Resource<ShownLink>} resource
 * @param {(open: Opening) => void} open
 * @returns {import('./head.js').LinkActions}
 */
function useActions(resource, open) {
  const link = /** @type {ShownLink} */ (resource.data);
  /** @type {import('../../parts/link-changes/link-changes.js').LinkList} */
  const place = {
    change: (_, change) => resource.change((before) => ({ ...before, ...change })),
    remove: () => navigate(href('links'), { replace: true }),
  };
  return {
    showQr: () => open('qr'),
    share: () => open('share'),
    edit: () => open('edit'),
    prepareEdit: () => void loadForm().catch(() => {}),
    copyTo: () => open('copy'),
    changeDestination: () => open('destination'),
    showRules: () => open('rules'),
    changeStatistics: () => open('statistics'),
    toggle: () => void toggle(link, place),
    archive: () => void archive(link, place),
    delete: () => void deleteLink(link, place),
    purge: () => void purgeLink(link, place),
  };
}
