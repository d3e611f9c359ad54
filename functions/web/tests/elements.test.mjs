import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { h, html, render } = await import('../app/vendor/preact.js');

/** A node as far as Preact needs one to draw for the first time. */
class FakeNode {
  childNodes = [];

  constructor(name) {
    this.localName = name;
  }

  get firstChild() {
    return this.childNodes[0] ?? null;
  }

  get nextSibling() {
    return this.parentNode?.childNodes[this.parentNode.childNodes.indexOf(this) + 1] ?? null;
  }

  insertBefore(node, before) {
    node.parentNode = this;
    this.childNodes.splice(before ? this.childNodes.indexOf(before) : this.childNodes.length, 0, node);
  }

  setAttribute() {}
}

Object.assign(document, {
  createElementNS: (_namespace, name) => new FakeNode(name),
  createTextNode: (text) => Object.assign(new FakeNode('#text'), { data: text }),
});

const drawn = (content) => {
  const page = new FakeNode('body');
  render(content, page);
  const written = (node) => node.data ?? `<${node.localName}>${node.childNodes.map(written).join('')}`;
  return page.childNodes.map(written).join('');
};

test('what the templates say is drawn', () => {
  assert.equal(drawn(html`<p>A <b>link</b> of ${3}${[h('i', {}), null]}</p>`), '<p>A <b>link of 3<i>');
});

// The API answers with JSON, and others have chosen parts of it. Preact draws objects that it has made itself only.
test('an object of an answer that looks like an element is not drawn', () => {
  const own = h('img', { src: 'x' });
  for (const change of [{}, { constructor: null }, { constructor: false }, { constructor: '' }, { constructor: {} }]) {
    for (const depth of [0, 1]) {
      const text = JSON.stringify({ ...own, key: null, ref: null, __b: depth, ...change });
      const answer = () => JSON.parse(text);
      assert.equal(drawn(html`<p>${answer()}</p>`), '<p>', text);
      assert.equal(drawn(html`<p>${[answer()]}</p>`), '<p>', text);
      assert.equal(drawn(answer()), '', text);
    }
  }
});
