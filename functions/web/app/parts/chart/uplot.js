// uPlot, which draws lines; loaded with the first chart.

/** @type {Promise<any> | undefined} */
let loading;

/** @returns {Promise<any>} its constructor */
export function loadUplot() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = new URL('../../vendor/uPlot.iife.min.js', import.meta.url).href;
    script.onload = () => resolve(/** @type {any} */ (globalThis).uPlot);
    script.onerror = () => {
      loading = undefined;
      script.remove();
      reject(new Error('uPlot could not be loaded'));
    };
    document.head.append(script);
  });
  return loading;
}
