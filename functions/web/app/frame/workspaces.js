// The workspaces of a person, and the way from one to another.

import { html } from '../vendor/preact.js';
import { counted, DAY_MS } from '../core/format.js';
import { href, navigate } from '../core/router.js';
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
      note: noteOf(workspace),
      isCurrent: workspace === current,
      isDisabled: workspace.paused_at !== null,
      // The address of a closed one says what can be done about that.
      act: () => (workspace.closed_at ? navigate(href('links', {}, workspace.slug)) : void enterWorkspace(workspace.slug, workspace.name)),
    })),
    { label: 'New workspace', icon: 'plus', act: nameWorkspace },
  ];
}

/** @param {import('../core/session.js').MyWorkspace} workspace */
function noteOf({ role, paused_at, closed_at, restorable_until }) {
  if (!closed_at) return paused_at ? 'Paused' : role;
  const left = Date.parse(restorable_until ?? '') - Date.now();
  // Until when to the minute, its page says.
  return left > 0 ? `Closed, ${left < DAY_MS ? 'less than a day' : counted(Math.ceil(left / DAY_MS), 'day')} left` : 'Closed';
}

const LEAVE = { title: 'Discard changes?', text: 'You have unsaved changes.', action: 'Discard', isDanger: true };

/** Whether nothing would be lost, or somebody doesn't mind. */
export const isLeftWillingly = async () => !hasUnsavedChanges() || ask(LEAVE);

/** Goes there, unless something would be lost. @param {string} slug @param {string} name */
export async function enterWorkspace(slug, name) {
  if (slug === currentWorkspace()?.slug) return;
  if (!(await isLeftWillingly())) return;
  try {
    await switchWorkspace(slug);
    toast(`Switched to ${name}.`);
  } catch (error) {
    toastFailure('Couldn’t switch workspaces.', error);
  }
}
