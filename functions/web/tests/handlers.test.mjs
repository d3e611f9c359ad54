// A browser turns Enter and Space into clicks on native controls only. Click handlers on other elements would exclude the keyboard,
// so they are forbidden here, and tests in a browser need not repeat each click with a key.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const application = new URL('../app/', import.meta.url);
const NATIVE = ['a href', 'button', 'input', 'label', 'option', 'select', 'summary', 'textarea'];
// Other elements with click handlers, and why the keyboard doesn't need them.
const EXCEPTIONS = {
  'core/router.js addEventListener': 'it only stores the scroll position',
  'parts/audit-log/audit-log.js a': 'its href is among the spread properties',
  'parts/link-form/tags.js div': 'a click beside the field focuses it',
  'parts/link-form/tags.js li': 'arrow keys and Enter choose an option of the field',
  'parts/link-rows/row.js li': 'the link in the row does the same',
  'parts/palette/palette.js div': 'arrow keys and Enter choose an option of the field',
  'parts/rules/several.js div': 'a click beside the field focuses it',
  'parts/rules/several.js li': 'arrow keys and Enter choose an option of the field',
  'parts/rules/several.js ul': 'a press in the list keeps the focus in the field',
  'parts/world-map/world-map.js circle': 'arrow keys and Enter choose a country',
  'parts/world-map/world-map.js path': 'arrow keys and Enter choose a country',
  'ui/dialog.js dialog': 'Escape closes it, too',
  'ui/menu.js addEventListener': 'Escape closes it, too',
};
// A click handler, or spread properties, which may contain one.
const HANDLER = /\bon(?:Click|AuxClick|DblClick|ContextMenu|(?:Mouse|Pointer)(?:Down|Up)|Touch\w+)=|\.\.\.\$\{|(addEventListener)\('(?:click|auxclick|dblclick|contextmenu|mousedown|mouseup|pointerdown|pointerup|touch\w+)'/g;

/** The element that an attribute belongs to, such as `li`, or undefined for a component, which passes it on to an element of its own. */
function elementAt(text, end) {
  for (let at = end, depth = 0; at >= 0; at -= 1) {
    if (text[at] === '}') depth += 1;
    if (text[at] === '{') depth -= 1;
    const tag = depth === 0 && text[at] === '<' && /^<([a-z][\w-]*|\$\{)/.exec(text.slice(at, at + 30));
    if (tag?.[1] === '${') return undefined;
    if (tag) return tag[1] === 'a' && /^[^`]*? href=/.test(text.slice(at)) ? 'a href' : tag[1];
  }
  throw new Error(`no element found for: ${text.slice(end, end + 80)}`);
}

const handlers = readdirSync(application, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.js') && !file.startsWith('vendor'))
  .flatMap((file) => {
    const text = readFileSync(new URL(file, application), 'utf8');
    return [...text.matchAll(HANDLER)].flatMap((found) => {
      const what = found[1] ?? elementAt(text, found.index - 1);
      return what === undefined ? [] : [{ file, what }];
    });
  });

test('only native controls have click handlers', () => {
  assert(handlers.length > 20);
  const others = handlers.filter(({ what }) => !NATIVE.includes(what)).map(({ file, what }) => `${file} ${what}`);
  assert.deepEqual([...new Set(others)].sort(), Object.keys(EXCEPTIONS));
});
