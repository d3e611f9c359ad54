// Tells by `isQuiet` whether nothing is under way for as long as a change takes to be drawn and to have its effects. Calls that wait for an
// answer count, and timers that run out soon, such as the pause until what was typed is looked for. The application doesn't count by
// itself: 60 bytes of its first view, which may have 50 KB.
{
  const { fetch, setTimeout, clearTimeout } = window;
  let calls = 0;
  window.fetch = (...request) => {
    calls += 1;
    return fetch(...request).finally(() => (calls -= 1));
  };
  const planned = new Set();
  window.setTimeout = (act, ms = 0, ...given) => {
    const timer = setTimeout(() => (planned.delete(timer), act(...given)), ms);
    if (ms < 900) planned.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => (planned.delete(timer), clearTimeout(timer));
  window.isQuiet = async () => {
    for (let frames = 0; frames < 3; frames += 1) {
      await new Promise(requestAnimationFrame);
      const moves = document.getAnimations().some(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime < 900);
      if (moves || calls > 0 || planned.size > 0 || document.querySelector('#app:empty, main:empty, .skeleton, .skeleton-text')) return false;
    }
    return true;
  };
}
