// Whoever uses keys can press whatever a pointer can: the browser makes a click of a key on its own controls only. So tests in a
// browser need not press everything in both ways.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const application = new URL('../app/', import.meta.url);
const NATIVE = ['a href', 'button', 'input', 'label', 'option', 'select', 'summary', 'textarea'];
// What else hears a press, and why keys need none.
const OWN = {
  'core/router.js addEventListener': 'it only notes how far a page was scrolled',
  'parts/link-form/tags.js div': 'a press beside the field puts the focus into it',
  'parts/link-form/tags.js li': 'arrows and Enter take an option of the field',
  'parts/link-rows/row.js li': 'the row leads where the link in it does',
  'parts/palette/palette.js div': 'arrows and Enter take an option of the field',
  'parts/trail/trail.js a': 'its address is among what it is handed',
  'parts/world-map/world-map.js circle': 'arrows and Enter take a country of the map',
  'parts/world-map/world-map.js path': 'arrows and Enter take a country of the map',
  'ui/dialog.js dialog': 'Escape closes it as a press beside it does',
  'ui/menu.js addEventListener': 'Escape closes it as a press elsewhere does',
};
// A handler of an element, or properties that are handed to it and may have one.
const HEARS = /\bon(?:Click|AuxClick|DblClick|ContextMenu|(?:Mouse|Pointer)(?:Down|Up)|Touch\w+)=|\.\.\.\$\{|(addEventListener)\('(?:click|auxclick|dblclick|contextmenu|mousedown|mouseup|pointerdown|pointerup|touch\w+)'/g;

/** The element that has what stands there, such as `li`; nothing for a component, which hands it to an element of its own. */
function elementAt(text, end) {
  for (let at = end, depth = 0; at >= 0; at -= 1) {
    if (text[at] === '}') depth += 1;
    if (text[at] === '{') depth -= 1;
    const tag = depth === 0 && text[at] === '<' && /^<([a-z][\w-]*|\$\{)/.exec(text.slice(at, at + 30));
    if (tag?.[1] === '${') return undefined;
    if (tag) return tag[1] === 'a' && /^[^`]*? href=/.test(text.slice(at)) ? 'a href' : tag[1];
  }
  throw new Error(`no element has it: ${text.slice(end, end + 80)}`);
}

const heard = readdirSync(application, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.js') && !file.startsWith('vendor'))
  .flatMap((file) => {
    const text = readFileSync(new URL(file, application), 'utf8');
    return [...text.matchAll(HEARS)].flatMap((found) => {
      const what = found[1] ?? elementAt(text, found.index - 1);
      return what === undefined ? [] : [{ file, what }];
    });
  });

test('only controls that the browser presses for keys hear a press, or widgets that handle keys', () => {
  assert(heard.length > 20);
  const others = heard.filter(({ what }) => !NATIVE.includes(what)).map(({ file, what }) => `${file} ${what}`);
  assert.deepEqual([...new Set(others)].sort(), Object.keys(OWN));
});
