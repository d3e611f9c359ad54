import { useMemo, useRef } from '../../vendor/preact.js';

/**
 * Functions that stay the same objects while what they do changes, so that what only hands them on needn't be drawn again.
 * @template {Record<string, (...values: any[]) => any>} F
 * @param {F} functions
 * @returns {F}
 */
export function useStable(functions) {
  const latest = useRef(functions);
  latest.current = functions;
  return useMemo(() => {
    const stable = Object.keys(functions).map((name) => [name, (/** @type {any[]} */ ...values) => latest.current[name](...values)]);
    return Object.fromEntries(stable);
  }, []);
}

/**
 * Draws a row again only if one of the values on which it depends has changed.
 * @returns {(key: string, values: unknown[], draw: () => unknown) => unknown}
 */
export function useRows() {
  const rows = useRef(/** @type {Map<string, { values: unknown[], row: unknown }>} */ (new Map()));
  return (key, values, draw) => {
    const known = rows.current.get(key);
    if (known && known.values.every((value, index) => value === values[index])) return known.row;
    if (rows.current.size > MOST_ROWS) rows.current.clear();
    const row = draw();
    rows.current.set(key, { values, row });
    return row;
  };
}

const MOST_ROWS = 400;
