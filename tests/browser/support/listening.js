// Notes in `window.heard` what a screen reader says by itself.
{
  const LIVE = '[role=status], [role=alert], [role=log], [aria-live=polite], [aria-live=assertive]';
  // So long it takes until a new region is known.
  const KNOWN_AFTER_MS = 100;
  const known = new WeakSet();
  window.heard = [];
  const learn = () => setTimeout(() => {
    for (const region of document.querySelectorAll(LIVE)) if (region.checkVisibility()) known.add(region);
  }, KNOWN_AFTER_MS);
  const isInert = (region) => {
    const open = document.querySelectorAll('dialog:modal');
    return open.length > 0 && !open[open.length - 1].contains(region);
  };
  const wordsOf = (node) => node.textContent.replace(/\s+/g, ' ').trim();
  const say = (region, node) => {
    if (region.checkVisibility() && !isInert(region) && !region.closest('[aria-hidden=true]') && wordsOf(node)) window.heard.push(wordsOf(node));
  };
  const hear = (records) => {
    const whole = new Set();
    for (const { target, addedNodes, type } of records) {
      const at = target instanceof Element ? target : target.parentElement;
      const region = at?.closest(LIVE);
      if (region && known.has(region)) {
        const isWhole = region.matches('[role=status], [role=alert]') ? region.ariaAtomic !== 'false' : region.ariaAtomic === 'true';
        if (isWhole) whole.add(region);
        else for (const node of type === 'characterData' ? [target] : addedNodes) say(region, node);
      }
      for (const node of addedNodes) {
        if (!(node instanceof Element)) continue;
        for (const alert of [node, ...node.querySelectorAll('*')]) if (alert.matches('[role=alert], [aria-live=assertive]')) say(alert, alert);
      }
    }
    for (const region of whole) say(region, region);
    learn();
  };
  new MutationObserver(hear).observe(document, { childList: true, subtree: true, characterData: true });
}
