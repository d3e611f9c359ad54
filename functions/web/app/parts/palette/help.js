// The list of keys.

import { html } from '../../vendor/preact.js';
import { MOD, shortcutGroups } from '../../core/shortcuts.js';
import { Dialog } from '../../ui/dialog.js';

/** Lists the keys that do something at the moment. @param {{ onClose: () => void }} props */
export function Help({ onClose }) {
  const groups = [...shortcutGroups(), { group: 'In forms', list: [{ keys: `${MOD} Enter`, text: 'Save' }, { keys: 'Esc', text: 'Close' }] }];
  return html`<${Dialog} title="Keyboard shortcuts" onClose=${onClose} isWide>
    ${groups.map(
      ({ group, list }) => html`<h3 class="help-head">${group}</h3>
        <dl class="keys">
          ${list.map(({ keys, or, text }) => html`<div><dt>${[...keys.split(' '), ...(or ? [or] : [])].map((key) => html`<kbd>${NAMES[key] ?? key}</kbd> `)}</dt><dd>${text}</dd></div>`)}
        </dl>`,
    )}
  <//>`;
}

/** @type {Record<string, string>} */
const NAMES = { ArrowDown: '↓', ArrowUp: '↑', Enter: '⏎', Escape: 'Esc', X: 'Shift X' };
