import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.mjs';

const { compact, indented, memberText, withMember } = await import('../app/pages/settings/json.js');

test('a member of an object is found as it is written', () => {
  const json = '{"name":"a \\"settings\\": {","list":[{"settings":1}], "settings" : {"id": 12345678901234567890, "b":[1.0,{"c":"},"}]} ,"x":null}';
  assert.equal(memberText(json, 'settings'), '{"id": 12345678901234567890, "b":[1.0,{"c":"},"}]}');
  assert.equal(memberText(json, 'x'), 'null');
  assert.equal(memberText(json, 'id'), undefined);
  assert.equal(memberText('{}', 'settings'), undefined);
});

test('a text is indented as JSON.stringify does it, with its numbers as they are', () => {
  for (const value of [{}, [], { a: [] }, { a: { b: {} }, c: [1, [2, { d: 'x: {}' }], []] }, [null, true], 'text', 12]) {
    assert.equal(indented(JSON.stringify(value)), JSON.stringify(value, null, 2));
  }
  assert.equal(compact('{ "a b" : [ 1.0,\n 2 ] }'), '{"a b":[1.0,2]}');
  assert.equal(indented('{"id":12345678901234567890,"share":1.50}'), '{\n  "id": 12345678901234567890,\n  "share": 1.50\n}');
});

test('a member is replaced or taken out, and the others stay as they are written', () => {
  const json = '{ "id" : 12345678901234567890, "utm_templates": [{"name":"a, }"}], "b\\u0061r":{"c":1.50} }';
  assert.equal(withMember(json, 'utm_templates', '[]'), '{"id":12345678901234567890,"b\\u0061r":{"c":1.50},"utm_templates":[]}');
  assert.equal(withMember(json, 'bar', undefined), '{"id":12345678901234567890,"utm_templates":[{"name":"a, }"}]}');
  assert.equal(withMember('{}', 'a', '1'), '{"a":1}');
  assert.equal(withMember('{"a":1}', 'a', undefined), '{}');
});
