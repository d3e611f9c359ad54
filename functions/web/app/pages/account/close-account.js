// Closing the account: what is lost is said in numbers, and asked for twice.

import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { ApiError } from '../../core/api.js';
import { counted } from '../../core/format.js';
import { useForm } from '../../core/form.js';
import { useResource } from '../../core/resource.js';
import { href } from '../../core/router.js';
import { session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { Proof, useProving } from '../../parts/proof/proof.js';
import { isBackFor } from '../../parts/providers/providers.js';
import { closeAccount } from '../../parts/ways/ways.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { Card } from '../../ui/page.js';
import { FormFailure, Notice, SkeletonText } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { readFate } from './fates.js';

/** @typedef {import('./fates.js').Fate} Fate */
/** @typedef {import('../../core/session.js').MyWorkspace} MyWorkspace */

export function CloseAccount() {
  const [isOpen, setOpen] = useState(isBackFor('close-account'));
  return html`<${Card} title="Close account">
    <div class="stack">
      <p class="muted">You’ll leave all workspaces, and workspaces without other members are deleted. This can’t be undone.</p>
      <p><${Button} onClick=${() => setOpen(true)}>Close my account<//></p>
    </div>
    ${isOpen && html`<${CloseDialog} onClose=${() => setOpen(false)} />`}
  <//>`;
}

/** @param {{ onClose: () => void }} props */
function CloseDialog({ onClose }) {
  const { email } = useStore(session);
  const proving = useProving('close-account');
  const isUnderWay = useRef(false);
  const form = useForm(
    { typed: '', password: '' },
    async ({ password }) => {
      try {
        await closeAccount(password || undefined, isUnderWay.current);
      } catch (error) {
        if (error instanceof ApiError && (error.isTemporary || error.code === 'try_again')) isUnderWay.current = true;
        proving.blame('password')(error);
      }
      toast('Your account is closed.');
    },
    {
      check: ({ typed, password }) => ({
        typed: typed.trim().toLowerCase() === email.toLowerCase() ? undefined : `Type ${email} to confirm.`,
        password: proving.check(password),
      }),
    },
  );
  const footer = html`<${Button} onClick=${onClose}>Cancel<//>
    ${proving.mayGoOn && html`<${Button} kind="danger" type="submit" isBusy=${form.isBusy}>Close account<//>`}`;
  return html`<${Dialog} title="Close your account?" onClose=${onClose} onSubmit=${form.submit} footer=${footer}>
    <${Workspaces} />
    <ul class="consequences">
      <li>Your sessions end, your API keys stop working, and your email can be used for another account.</li>
      <li>Your activity in other people’s workspaces stays, shown as a former member’s.</li>
      <li>This can’t be undone. Download your data first if you want to keep it.</li>
    </ul>
    ${proving.mayGoOn && html`<${Field} label=${html`Type <strong><bdi>${email}</bdi></strong> to confirm`} type="email" autocomplete="off" ...${form.field('typed')} />`}
    <${Proof} of=${proving} form=${form} />
    <${Refusal} error=${form.failure} isUnderWay=${isUnderWay.current} />
  <//>`;
}

/** Why it isn't closed, where one sees it who has just pressed the button. @param {{ error?: ApiError, isUnderWay: boolean }} props */
function Refusal({ error, isUnderWay }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (error) place.current?.scrollIntoView({ block: 'center' });
  }, [error]);
  return html`<div ref=${place} class=${error ? 'stack' : 'gone'}>${error && html`<${Why} error=${error} isUnderWay=${isUnderWay} />`}</div>`;
}

/** @param {{ error: ApiError, isUnderWay: boolean }} props */
function Why({ error, isUnderWay }) {
  if (error.code === 'last_admin') {
    const { workspace_id, workspace: name } = error.others;
    const slug = session.get().workspaces?.find((one) => one.workspace_id === workspace_id)?.slug;
    return html`<${Notice} tone="bad">
      <strong><bdi>${name ?? 'A workspace'}</bdi></strong> has other members but no other admin. <a href=${href('members', {}, slug)}>Make one of them an admin</a> first, or remove them.
    <//>`;
  }
  return html`<${FormFailure} error=${error} />
    ${isUnderWay && html`<p>Your account may be partly closed. Close it again to finish.</p>`}`;
}

function Workspaces() {
  const { workspaces } = useStore(session);
  if (!workspaces) return html`<p class="muted">Couldn’t load your workspaces.</p>`;
  if (workspaces.length === 0) return html`<p>You’re not in a workspace.</p>`;
  return html`<ul class="lines fates" aria-label="What happens to your workspaces">
    ${workspaces.map(
      (workspace) => html`<li key=${workspace.workspace_id}>
        <span class="workspace-mark" aria-hidden="true">${[...workspace.name][0].toUpperCase()}</span>
        <span class="line-text">
          <bdi class="line-title">${workspace.name}</bdi>
          <span>${workspace.paused_at || workspace.closed_at ? GONE[workspace.closed_at ? 'closed' : 'paused'] : html`<${FateOf} workspace=${workspace} />`}</span>
        </span>
      </li>`,
    )}
  </ul>`;
}

const GONE = { closed: 'It’s closed. You’ll no longer be able to restore it, and it’s deleted if nobody else can.', paused: 'You’ll leave it.' };

/** @param {{ workspace: MyWorkspace }} props */
function FateOf({ workspace }) {
  const { data, error } = useResource(`fate:${workspace.workspace_id}`, () => readFate(workspace));
  if (!data) return error ? html`<span class="muted">Couldn’t load what will be lost. ${error.message}</span>` : html`<${SkeletonText} width=${200} />`;
  return sentenceOfFate(data, workspace);
}

/** @param {Fate} fate @param {MyWorkspace} workspace */
function sentenceOfFate({ kind, links, hasMoreLinks, clicks = 0, isPart }, { slug }) {
  if (kind === 'needs') return html`It has other members but no other admin. <a href=${href('members', {}, slug)}>Make one of them an admin</a> first.`;
  if (kind === 'stays') return `You’ll leave it. ${linksSentence(links)}`;
  if (links === 0) return 'You’re its only member, and it has no links. It will be deleted.';
  return html`You’re its only member. <strong class="bad">${hasMoreLinks && 'More than '}${counted(links ?? 0, 'link')} and ${isPart ? 'more than ' : ''}${counted(clicks, 'click')}</strong> from the last 12 months are lost immediately.`;
}

/** @param {number | undefined} links */
function linksSentence(links) {
  if (links === 0) return 'You have no links there.';
  if (links === 1) return 'Your link there goes to an admin and keeps working.';
  return `Your ${links ? counted(links, 'link') : 'links'} there go to an admin and keep working.`;
}
