import { useRef } from '../../vendor/preact.js';

/**
 * What was there last, while something else is read.
 * @template T
 * @param {T | undefined} value
 * @returns {T | undefined}
 */
export function useLatest(value) {
  const latest = useRef(value);
  if (value !== undefined) latest.current = value;
  return latest.current;
}
