// A long list of which only what can be seen is in the page.

import { html, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';

const OVERSCAN = 8;

/**
 * @param {object} props
 * @param {string} props.label
 * @param {number} props.count how many rows there are
 * @param {number} props.height of each row
 * @param {number} [props.kept] a row that stays in the page wherever one is, since it has the focus
 * @param {(index: number) => unknown} props.children a row; it has to be an `li`, and take `style`
 * @param {() => void} [props.onEnd] called when the last rows come into view
 */
export function VirtualList({ label, count, height, kept = -1, children, onEnd }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const [[from, to], setWindow] = useState([0, 24]);
  const latest = useRef({ count, height, onEnd });
  latest.current = { count, height, onEnd };

  useLayoutEffect(() => {
    let isAsked = false;
    const measure = () => {
      isAsked = false;
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const size = latest.current;
      const first = Math.max(0, Math.floor(-top / size.height) - OVERSCAN);
      const last = Math.ceil((innerHeight - top) / size.height) + OVERSCAN;
      setWindow((before) => (before[0] === first && before[1] === last ? before : [first, last]));
      if (last >= size.count) size.onEnd?.();
    };
    const onScroll = () => {
      if (!isAsked) requestAnimationFrame(measure);
      isAsked = true;
    };
    measure();
    addEventListener('scroll', onScroll, { passive: true });
    addEventListener('resize', onScroll);
    return () => {
      removeEventListener('scroll', onScroll);
      removeEventListener('resize', onScroll);
    };
  }, [count]);

  const shown = [];
  for (let index = from; index < Math.min(to, count); index += 1) shown.push(index);
  if (kept >= 0 && kept < count && (kept < from || kept >= to)) shown.push(kept);
  return html`<ul class="virtual" ref=${list} aria-label=${label} style=${{ height: `${count * height}px` }}>
    ${shown.map((index) => children(index))}
  </ul>`;
}
