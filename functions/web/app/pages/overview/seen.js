import { useEffect, useRef, useState } from '../../vendor/preact.js';
import { usePrinting } from '../../parts/print/print.js';

/** So near to the window, what is below it is read. */
const NEAR = '100px';

/**
 * Whether somebody has come to a part of the page, or prints it, so that it is worth reading.
 * @returns {{ part: { current: HTMLElement | null }, isSeen: boolean }}
 */
export function useSeen() {
  const part = useRef(/** @type {HTMLElement | null} */ (null));
  const [isSeen, setSeen] = useState(false);
  usePrinting(() => setSeen(true));
  useEffect(() => {
    if (isSeen || !part.current) return undefined;
    const observer = new IntersectionObserver((entries) => setSeen(entries.some(({ isIntersecting }) => isIntersecting)), { rootMargin: NEAR });
    observer.observe(part.current);
    return () => observer.disconnect();
  }, [isSeen]);
  return { part, isSeen };
}
