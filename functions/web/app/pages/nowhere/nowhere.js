// For who is in no workspace: the ways into one. It is shown instead of all other pages but the account's.

import { html, useState } from '../../vendor/preact.js';
import { ApiError } from '../../core/api.js';
import { useForm } from '../../core/form.js';
import { session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { enterWorkspace } from '../../frame/workspaces.js';
import { ClosedWorkspaces } from '../../parts/closed/closed.js';
import { createWorkspace, joinWorkspace } from '../../parts/ways/ways.js';
import { Button } from '../../ui/button.js';
import { Status } from '../../ui/chips.js';
import { Field } from '../../ui/field.js';
import { Card, Page } from '../../ui/page.js';
import { FormFailure } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { invitationToken } from './invitation-token.js';

/** @typedef {import('../../core/session.js').MyWorkspace} MyWorkspace */

export function NowherePage() {
  const memberships = (useStore(session).workspaces ?? []).filter(({ closed_at }) => !closed_at);
  return html`<${Page} title="You’re not in a workspace">
    <div class="narrow">
      <p class="muted">Links and their statistics belong to workspaces. Join one or create your own.</p>
      <${ClosedWorkspaces} />
      ${memberships.length > 0 && html`<${Mine} workspaces=${memberships} />`}
      <${Card} title="Join a workspace"><${JoinForm} /><//>
      <${Card} title="Create a workspace"><${CreateForm} /><//>
    </div>
  <//>`;
}

/** Those that are paused, or that one has joined since one signed in. @param {{ workspaces: MyWorkspace[] }} props */
function Mine({ workspaces }) {
  return html`<${Card} title="Your memberships">
    <ul class="lines">
      ${workspaces.map(
        (workspace) => html`<li key=${workspace.workspace_id}>
          <span class="workspace-mark" aria-hidden="true">${[...workspace.name][0].toUpperCase()}</span>
          <span class="line-text">
            <bdi class="line-title">${workspace.name}</bdi>
            <span class="small-print">${workspace.paused_at ? 'Until its creator keeps you as a member' : workspace.role}</span>
          </span>
          ${workspace.paused_at
            ? html`<${Status} tone="warn">Paused<//>`
            : html`<${Button} class="compact" onClick=${() => enterWorkspace(workspace.slug, workspace.name)}>
                Open<span class="hidden"> ${workspace.name}</span>
              <//>`}
        </li>`,
      )}
    </ul>
  <//>`;
}

function JoinForm() {
  const form = useForm(
    { invitation: '' },
    async ({ invitation }) => {
      const name = await joinWorkspace(/** @type {string} */ (invitationToken(invitation))).catch(blameInvitation);
      toast(`Welcome to ${name}.`);
    },
    { check: ({ invitation }) => ({ invitation: invitationToken(invitation) ? undefined : 'Paste the whole link, or the part after “token=”.' }) },
  );
  return html`<form class="stack" novalidate onSubmit=${form.submit}>
    <${FormFailure} error=${form.failure} />
    <${Field}
      label="Invitation"
      hint="Open the link you received, or paste it here."
      autocomplete="off"
      autocapitalize="off"
      spellcheck="false"
      after=${html`<${Button} kind="primary" type="submit" isBusy=${form.isBusy}>Join<//>`}
      ...${form.field('invitation')}
    />
  </form>`;
}

/** @param {unknown} error @returns {never} */
function blameInvitation(error) {
  if (!(error instanceof ApiError) || error.code !== 'invitation_invalid') throw error;
  throw new ApiError('problem', error.message, { status: error.status, code: error.code, field: 'invitation' });
}

function CreateForm() {
  const [isRefused, setRefused] = useState(false);
  const form = useForm({ name: '' }, async ({ name }) => {
    try {
      await createWorkspace(name);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'creation_closed') throw error;
      return setRefused(true);
    }
    toast(`${name} is ready.`);
  });
  return html`<div role="status">
      ${isRefused && 'This Linklet’s operator decides who can create workspaces. Ask them for one, or ask a colleague for an invitation.'}
    </div>
    ${!isRefused &&
    html`<form class="stack" novalidate onSubmit=${form.submit}>
      <${FormFailure} error=${form.failure} />
      <${Field}
        label="Name"
        hint="It has its own links, members and API keys. You’ll be its admin."
        autocomplete="off"
        after=${html`<${Button} type="submit" isBusy=${form.isBusy}>Create<//>`}
        ...${form.field('name')}
      />
    </form>`}`;
}
