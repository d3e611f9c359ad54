import { useLayoutEffect, useRef } from '../vendor/preact.js';

/**
 * Gives something within a part the focus once it is drawn, where controls come, go or change places.
 * @returns {{ part: { current: HTMLElement | null }, focusLater: (selector: string) => void }}
 */
export function useLaterFocus() {
  const part = useRef(/** @type {HTMLElement | null} */ (null));
  const wanted = useRef('');
  // With the drawing itself: what comes later may come of the drawing before, and look for it where it isn't yet.
  useLayoutEffect(() => {
    if (!wanted.current) return;
    const found = /** @type {HTMLElement | null | undefined} */ (part.current?.querySelector(wanted.current));
    wanted.current = '';
    found?.focus();
  });
  return {
    part,
    focusLater(selector) {
      wanted.current = selector;
    },
  };
}
