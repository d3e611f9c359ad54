// Where the link leads. Where the workspace locks destinations, that can't be changed, and the form says who can allow it.

import { html, useState } from '../../vendor/preact.js';
import { call } from '../../core/api.js';
import { withoutScheme } from '../../core/format.js';
import { invalidate } from '../../core/resource.js';
import { mayAct } from '../../core/session.js';
import { Button } from '../../ui/button.js';
import { ask } from '../../ui/dialog.js';
import { Checkbox, Field } from '../../ui/field.js';
import { toast, toastFailure } from '../../ui/toast.js';
import { ShortLink } from '../short-link/short-link.js';

/** @typedef {import('../../core/resource.js').Resource<import('../../core/lists.js').Destinations>} DestinationsResource */

const REMEMBERED_SECONDS = 90;

/** Why something of a link can’t be changed, and who can allow it. @param {{ consequence: string }} props such as `you can only remove it` */
export function LockedHint({ consequence }) {
  return html`<p class="hint">Destinations are locked in this workspace, so ${consequence}. ${mayAct('admin') ? 'You can allow changes above.' : 'An admin can allow changes.'}</p>`;
}

/**
 * @param {object} props
 * @param {import('../../core/lists.js').Link} [props.link] the link that is changed
 * @param {DestinationsResource} props.destinations
 * @param {ReturnType<import('../../core/form.js').Form<any>['field']>} props.input
 * @param {(url: string) => void} props.onUrl
 * @param {() => void} props.onCopy makes a new link instead
 * @param {() => void} props.onAllowed
 */
export function Destination({ link, destinations, input, onUrl, onCopy, onAllowed }) {
  if (link && destinations.data !== 'editable') return html`<${Locked} url=${link.original_url} destinations=${destinations} onCopy=${onCopy} onAllowed=${onAllowed} />`;
  const hint = link && input.value !== link.original_url && `Browsers may remember the old destination for up to ${REMEMBERED_SECONDS} seconds. The link’s history shows the change.`;
  return html`<div>
    <${Field} label="Destination" type="url" inputmode="url" autofocus=${!link} spellcheck=${false} autocomplete="off" placeholder="https://" hint=${hint} ...${input} />
    <${ShortLink} text=${input.value} onText=${onUrl} />
  </div>`;
}

/** @param {{ url: string, destinations: DestinationsResource, onCopy: () => void, onAllowed: () => void }} props */
function Locked({ url, destinations, onCopy, onAllowed }) {
  return html`<div class="form-target" role="group" aria-label="Destination">
    <p class="small muted" aria-hidden="true">Destination</p>
    <p><bdi>${withoutScheme(url)}</bdi></p>
    ${destinations.data === 'fixed' &&
    html`<p class="hint">Destinations are locked in this workspace, so visitors always reach the same place. ${!mayAct('admin') && 'An admin can allow changes.'}</p>
      ${mayAct('admin') && html`<${Allow} destinations=${destinations} onAllowed=${onAllowed} />`}`}
    <${Button} kind="quiet" icon="plus" onClick=${onCopy}>Create a link to another destination<//>
  </div>`;
}

const QUESTION = {
  title: 'Make destinations editable?',
  text: 'This applies to all links in this workspace. Anyone who can edit a link can send its visitors elsewhere, with another destination, rules or variants. The history of each link shows every change.',
  action: 'Make editable',
};

/** The switch of the workspace, for admins. @param {{ destinations: DestinationsResource, onAllowed: () => void }} props */
function Allow({ destinations, onAllowed }) {
  const [isOn, setOn] = useState(false);
  const change = async (/** @type {boolean} */ isWanted) => {
    setOn(isWanted);
    if (!isWanted || !(await ask(QUESTION))) return setOn(false);
    try {
      await call('PATCH /api/workspace', { body: { destinations: 'editable' } });
      invalidate('workspace');
      destinations.change(() => 'editable');
      toast('Destinations are editable now.');
      onAllowed();
    } catch (error) {
      setOn(false);
      toastFailure('Couldn’t make destinations editable.', error);
    }
  };
  return html`<${Checkbox} role="switch" label="Allow changes in this workspace" checked=${isOn} onChange=${change} />`;
}
