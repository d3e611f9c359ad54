/**
 * Adds styles that the first view doesn't need. Without them, what they are for can still be used.
 * @param {URL} url
 * @param {string} [media]
 */
export const loadStyles = ({ href }, media = '') =>
  new Promise((done) => document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href, media, onload: done, onerror: done })));
