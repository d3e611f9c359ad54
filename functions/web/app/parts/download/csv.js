/** Tables below each other, of which each has the same first line. @param {string[]} parts */
export function joined(parts) {
  const [first = '', ...others] = parts;
  const head = first.slice(0, first.indexOf('\n') + 1);
  const lines = others.map((part) => (head && part.startsWith(head) ? part.slice(head.length) : part));
  return lines.reduce((text, part) => text + (text.endsWith('\n') || !part ? '' : '\n') + part, first);
}
