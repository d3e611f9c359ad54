// The workspaces of a person, and the way from one to another.

import { html } from '../vendor/preact.js';
import { currentWorkspace, session, switchWorkspace } from '../core/session.js';
import { useStore } from '../core/store.js';
import { hasUnsavedChanges } from '../core/version.js';
import { ask } from '../ui/dialog.js';
import { Icon } from '../ui/icons.js';
import { Menu } from '../ui/menu.js';
import { SkeletonText } from '../ui/states.js';
import { toast, toastFailure } from '../ui/toast.js';

/** @param {{ nameWorkspace: () => void }} props */
export function WorkspaceSwitcher({ nameWorkspace }) {
  useStore(session);
  const name = currentWorkspace()?.name;
  return html`<${Menu} class="switcher" align="start" items=${workspaceItems(nameWorkspace)}>
    <span class="workspace-mark" aria-hidden="true">${name ? [...name][0].toUpperCase() : ''}</span>
    <span class="rail-label" dir="auto">${name ? name : html`<${SkeletonText} width=${110} />`}</span>
    <span class="hidden">Switch workspace</span><${Icon} name="down" />
  <//>`;
}

/** @param {() => void} nameWorkspace @returns {import('../ui/menu.js').MenuItem[]} */
export function workspaceItems(nameWorkspace) {
  const current = currentWorkspace();
  const workspaces = session.get().workspaces ?? [];
  return [
    ...workspaces.map((workspace) => ({
      key: workspace.workspace_id,
      label: workspace.name,
      note: workspace.paused_at ? 'Paused' : workspace.role,
      isCurrent: workspace === current,
      isDisabled: workspace.paused_at !== undefined,
      act: () => void enterWorkspace(workspace.slug, workspace.name),
    })),
    { label: 'New workspace', icon: 'plus', act: nameWorkspace },
  ];
}

/** Goes there, unless something would be lost. @param {string} slug @param {string} name */
export async function enterWorkspace(slug, name) {
  if (slug === currentWorkspace()?.slug) return;
  const question = { title: 'Leave your changes?', text: 'What you have typed isn’t saved yet.', action: 'Leave', isDanger: true };
  if (hasUnsavedChanges() && !(await ask(question))) return;
  try {
    await switchWorkspace(slug);
    toast(`You are in ${name} now.`);
  } catch (error) {
    toastFailure('The workspace wasn’t changed.', error);
  }
}
