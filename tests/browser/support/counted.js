// Counts calls that wait for an answer. Timers that run out soon are waited for, too, such as the pause until what was typed is looked for.
// The application doesn't count by itself: 60 bytes of its first view, which may have 50 KB.
{
  const { fetch, setTimeout, clearTimeout } = window;
  window.calls = 0;
  window.fetch = (...request) => {
    window.calls += 1;
    return fetch(...request).finally(() => (window.calls -= 1));
  };
  const planned = new Set();
  window.setTimeout = (act, ms = 0, ...given) => {
    const timer = setTimeout(() => (planned.delete(timer), act(...given)), ms);
    if (ms < 900) planned.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => (planned.delete(timer), clearTimeout(timer));
  window.isPlanned = () => planned.size > 0;
}
