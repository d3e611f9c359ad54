// uPlot is a classic script with its styles, so they are loaded as such, when a chart is shown first.

/** @typedef {typeof import('../../vendor/uPlot.js')} UPlot */

/** @type {Promise<UPlot> | undefined} */
let loading;

/** @returns {Promise<UPlot>} */
export function loadUPlot() {
  const src = new URL('../../vendor/uPlot.iife.min.js', import.meta.url).href;
  const href = new URL('../../vendor/uPlot.min.css', import.meta.url).href;
  loading ??= Promise.all([loaded('script', { src }), loaded('link', { rel: 'stylesheet', href })]).then(
    () => /** @type {any} */ (globalThis).uPlot,
    () => {
      loading = undefined;
      throw new Error('Couldn’t load the chart.');
    },
  );
  return loading;
}

/**
 * Puts a file into the page, before the styles that change what it says.
 * @param {'script' | 'link'} name
 * @param {object} attributes
 */
function loaded(name, attributes) {
  return new Promise((resolve, reject) => {
    const element = Object.assign(document.createElement(name), attributes, { onload: resolve });
    element.onerror = () => {
      element.remove();
      reject();
    };
    document.head.prepend(element);
  });
}
