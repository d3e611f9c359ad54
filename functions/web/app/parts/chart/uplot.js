// uPlot is a classic script, so it is loaded as one, when a chart is shown first.

/** @typedef {typeof import('../../vendor/uPlot.js')} UPlot */

/** @type {Promise<UPlot> | undefined} */
let loading;

/** @returns {Promise<UPlot>} */
export function loadUPlot() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = new URL('../../vendor/uPlot.iife.min.js', import.meta.url).href;
    script.onload = () => resolve(/** @type {any} */ (globalThis).uPlot);
    script.onerror = () => {
      loading = undefined;
      script.remove();
      reject(new Error('The chart couldn’t be loaded.'));
    };
    document.head.append(script);
  });
  return loading;
}
