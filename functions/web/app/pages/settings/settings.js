// The workspace, this browser, the other workspaces of the person, the jobs of this one, and closing it; how people sign in.

import { html, useState } from '../../vendor/preact.js';
import { useResource } from '../../core/resource.js';
import { route, setQuery } from '../../core/router.js';
import { currentWorkspace, mayAct, session } from '../../core/session.js';
import { useStore } from '../../core/store.js';
import { chooseTheme, chosenTheme } from '../../core/theme.js';
import { enterWorkspace } from '../../frame/workspaces.js';
import { BringBack, ClosedWords } from '../../parts/closed/closed.js';
import { Button } from '../../ui/button.js';
import { Chip, Choice, Status } from '../../ui/chips.js';
import { Lazy } from '../../ui/lazy.js';
import { Card, Page } from '../../ui/page.js';
import { Loaded, Skeleton } from '../../ui/states.js';
import { Branding } from './branding.js';
import { CloseWorkspace } from './close-workspace.js';
import { Export } from './export.js';
import { FromAnywhere } from './from-anywhere.js';
import { Import } from './import.js';
import { Jobs } from './jobs.js';
import { Security } from './security.js';
import { Shares } from './shares.js';
import { Templates } from './templates.js';
import { readWorkspace, WorkspaceFacts, WorkspaceForm } from './workspace-form.js';

/** @typedef {import('./workspace-form.js').Workspace} Workspace */

const FORM_HEIGHT = 450;

export function SettingsPage() {
  const { me } = useStore(session);
  const { query } = useStore(route);
  const isAdmin = mayAct('admin');
  const view = isAdmin && query.get('view') === 'security' ? 'security' : '';
  const show = (/** @type {string} */ value) => setQuery({ view: value }, { replace: false });
  return html`<${Page} title="Settings">
    <div class="narrow">
      ${isAdmin && html`<div><${Choice} label="Settings section" value=${view} options=${VIEWS} onChange=${show} /></div>`}
      ${!view ? html`<${General} />` : me ? html`<${Security} />` : html`<${Skeleton} height=${FORM_HEIGHT} />`}
    </div>
  <//>`;
}

const VIEWS = [
  { value: '', label: 'General' },
  { value: 'security', label: 'Security' },
];

function General() {
  return html`<${ThisWorkspace} />
    ${mayAct('admin') && html`<${Branding} />`}
    <${Templates} />
    ${mayAct('member') && html`<${Import} />`}
    <${Export} />
    ${mayAct('member') && html`<${FromAnywhere} />`}
    <${ThisBrowser} />
    <${MyWorkspaces} />
    ${mayAct('admin') && html`<${Shares} />`}
    <${Jobs} />
    ${mayAct('admin') && html`<${CloseWorkspace} />`}`;
}

function ThisWorkspace() {
  useStore(session);
  const resource = useResource('workspace', readWorkspace);
  const waiting = html`<${Skeleton} height=${FORM_HEIGHT} />`;
  return html`<${Card} title="Workspace">
    <${Loaded} of=${resource} what="Couldn’t load the workspace." waiting=${waiting}>
      ${(/** @type {Workspace} */ workspace) =>
        mayAct('admin')
          ? html`<${WorkspaceForm} workspace=${workspace} show=${resource.change} />`
          : html`<${WorkspaceFacts} workspace=${workspace} />`}
    <//>
  <//>`;
}

/** @type {{ value: import('../../core/theme.js').Theme, label: string }[]} */
const THEMES = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

function ThisBrowser() {
  const [theme, setTheme] = useState(chosenTheme);
  const choose = (/** @type {import('../../core/theme.js').Theme} */ chosen) => {
    chooseTheme(chosen);
    setTheme(chosen);
  };
  return html`<${Card} title="Appearance">
    <div class="stack tight">
      <div><${Choice} label="Theme" value=${theme} options=${THEMES} onChange=${choose} /></div>
      <p class="hint">Applies to this browser only.</p>
    </div>
  <//>`;
}

function MyWorkspaces() {
  const { workspaces, hasFailed } = useStore(session);
  const [isNaming, setNaming] = useState(false);
  const close = () => setNaming(false);
  const current = currentWorkspace();
  const create = html`<${Button} class="compact" icon="plus" onClick=${() => setNaming(true)}>New workspace<//>`;
  return html`<${Card} title="Your workspaces" actions=${create}>
    ${workspaces
      ? html`<ul class="lines">
          ${workspaces.map(
            (workspace) => html`<li key=${workspace.workspace_id}>
              <span class="workspace-mark" aria-hidden="true">${[...workspace.name][0].toUpperCase()}</span>
              <span class="line-text">
                <bdi class="line-title">${workspace.name}</bdi>
                <span class="small-print">${workspace.closed_at ? html`<${ClosedWords} workspace=${workspace} />` : `${workspace.slug} · ${workspace.role}`}</span>
              </span>
              <${Way} workspace=${workspace} isHere=${workspace === current} />
            </li>`,
          )}
        </ul>`
      : hasFailed ? html`<p class="muted">Couldn’t load your workspaces.</p>` : html`<${Skeleton} rows=${2} height=${48} />`}
    ${isNaming && html`<${Lazy} load=${() => import('../../parts/new-workspace/new-workspace.js')} name="NewWorkspace" onFailure=${close} onClose=${close} />`}
  <//>`;
}

/** @param {{ workspace: import('../../core/session.js').MyWorkspace, isHere: boolean }} props */
function Way({ workspace, isHere }) {
  if (isHere) return html`<${Chip}>Current<//>`;
  if (workspace.closed_at) return html`<${BringBack} workspace=${workspace} class="compact" />`;
  if (workspace.paused_at) return html`<${Status} tone="warn" title="Until its creator keeps you as a member">Paused<//>`;
  return html`<${Button} class="compact" onClick=${() => enterWorkspace(workspace.slug, workspace.name)}>
    Switch<span class="hidden"> to ${workspace.name}</span>
  <//>`;
}
