// Closing the workspace: what is lost is said in numbers, and asked for twice.

import { html, useState } from '../../vendor/preact.js';
import { ApiError, call, readAll } from '../../core/api.js';
import { counted, exactMomentInText, number } from '../../core/format.js';
import { useForm } from '../../core/form.js';
import { nameOf, useMembers } from '../../core/lists.js';
import { useResource } from '../../core/resource.js';
import { currentWorkspace, otherWorkspace, refreshMe, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { readLoss } from '../../parts/loss/loss.js';
import { Proof, useProving } from '../../parts/proof/proof.js';
import { isBackFor } from '../../parts/providers/providers.js';
import { closeWorkspace } from '../../parts/ways/ways.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { Card } from '../../ui/page.js';
import { FormFailure, SkeletonText } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';

/** @typedef {import('../../core/lists.js').Member} Member */
/** @typedef {import('../../parts/loss/loss.js').Loss} LostNumbers */

export function CloseWorkspace() {
  const [isOpen, setOpen] = useState(isBackFor('close-workspace'));
  return html`<${Card} title="Close workspace">
    <div class="stack">
      <p class="muted">Its links stop working immediately. An admin can restore it for 7 days. After that, it’s permanently deleted with its statistics.</p>
      <p><${Button} onClick=${() => setOpen(true)}>Close this workspace<//></p>
    </div>
    ${isOpen && html`<${CloseDialog} onClose=${() => setOpen(false)} />`}
  <//>`;
}

/** @param {{ onClose: () => void }} props */
function CloseDialog({ onClose }) {
  useStore(session);
  const proving = useProving('close-workspace');
  const { name = 'This workspace', slug = '' } = currentWorkspace() ?? {};
  const form = useForm(
    { slug: '', password: '' },
    async (values) => {
      const closed = await closeWorkspace({ slug: values.slug.trim(), password: values.password || undefined }, otherWorkspace()?.slug).catch((error) => blame(error, proving));
      toast(`${name} is closed. You can restore it until ${exactMomentInText(closed.restorable_until)}.`);
    },
    {
      check: (values) => ({
        slug: values.slug.trim() === slug ? undefined : `Type ${slug} to confirm.`,
        password: proving.check(values.password),
      }),
    },
  );
  const footer = html`<${Button} onClick=${onClose}>Cancel<//>
    ${proving.mayGoOn && html`<${Button} kind="danger" type="submit" isBusy=${form.isBusy}>Close workspace<//>`}`;
  return html`<${Dialog} title=${html`Close <bdi>${name}</bdi>?`} onClose=${onClose} onSubmit=${form.submit} footer=${footer}>
    <${FormFailure} error=${form.failure} />
    <${Loss} />
    <${Consequences} />
    ${proving.mayGoOn && html`<${Field} label=${html`Type <code>${slug}</code> to confirm`} autocomplete="off" autocapitalize="none" spellcheck="false" ...${form.field('slug')} />`}
    <${Proof} of=${proving} form=${form} />
  <//>`;
}

/**
 * Which field is to blame. Another admin may have given the workspace another short name meanwhile.
 * @param {unknown} error
 * @param {import('../../parts/proof/proof.js').Proving} proving
 * @returns {Promise<never>}
 */
async function blame(error, proving) {
  if (!(error instanceof ApiError) || error.field !== 'slug') return proving.blame('password')(error);
  const { status, code } = error;
  await refreshMe();
  throw new ApiError('problem', `Its slug is now ${currentWorkspace()?.slug}. Type that instead.`, { status, code, field: 'slug' });
}

/** What there is, read when somebody is about to lose it. */
function Loss() {
  const loss = useResource('overview:closing', () => readLoss());
  const targets = useResource('targets:closing', () => call('GET /v1/targets', { query: { limit: 100 } }));
  const keys = useResource('keys', () => readAll('keys', 'GET /api/keys'));
  const members = useMembers();
  return html`<div class="loss">
    <p class="small-print">Permanently deleted after 7 days</p>
    <dl>
      <${Count} label="Links" of=${loss} count=${(/** @type {LostNumbers} */ { links, hasMoreLinks }) => atLeast(links, hasMoreLinks)} />
      <${Count} label="Clicks in 12 months" of=${loss} count=${(/** @type {LostNumbers} */ { clicks, isPart }) => atLeast(clicks, isPart)} />
      <${Count} label="Monitored URLs" of=${targets} count=${(/** @type {{ items: unknown[], next_page_token: string | null }} */ { items, next_page_token }) => atLeast(items.length, Boolean(next_page_token))} />
      <${Count} label="Members" of=${members} count=${(/** @type {{ members: Member[] }} */ { members: list }) => number(list.length)} />
      <${Count} label="API keys" of=${keys} count=${(/** @type {{ keys: unknown[] }} */ { keys: list }) => number(list.length)} />
    </dl>
  </div>`;
}

/** `48,211+` @param {number} count @param {boolean} [hasMore] */
const atLeast = (count, hasMore) => `${number(count)}${hasMore ? '+' : ''}`;

/** @param {{ label: string, of: import('../../core/resource.js').Resource<any>, count: (data: any) => string }} props */
function Count({ label, of: { data, error }, count }) {
  const value = data ? count(data) : error ? html`<span title=${error.message}>–<span class="hidden">unavailable</span></span>` : html`<${SkeletonText} width=${40} />`;
  return html`<div><dt>${label}</dt><dd>${value}</dd></div>`;
}

function Consequences() {
  const { me } = useStore(session);
  /** @type {Member[]} */
  const members = useMembers().data?.members ?? [];
  const admins = members.filter(({ user_id, role, paused_at }) => user_id !== me?.user_id && role === 'admin' && !paused_at);
  const others = members.length - 1;
  return html`<ul class="consequences">
    <li>Its links stop working immediately. Programs get the status 410.</li>
    <li>Within a minute, ${others > 0 && `${counted(others, 'other member')} and `}its API keys lose access.${others > 0 && ' Members are notified.'}</li>
    <li>For 7 days, ${admins.length > 0 ? html`<${AnyOf} admins=${admins} />` : 'only you'} can restore it. Then all of this is permanently deleted.</li>
  </ul>`;
}

const NAMED_ADMINS = 3;

/** `you, Ada or Bob` @param {{ admins: Member[] }} props the others */
function AnyOf({ admins }) {
  if (admins.length > NAMED_ADMINS) return html`any of its ${number(admins.length + 1)} admins`;
  const parts = new Intl.ListFormat(undefined, { type: 'disjunction' }).formatToParts(['you', ...admins.map(nameOf)]);
  return parts.map(({ type, value }) => (type === 'element' ? html`<bdi>${value}</bdi>` : value));
}
