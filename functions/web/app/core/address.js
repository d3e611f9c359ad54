// Where the API is: the page is at `<base>/app`, and everything else is next to it.

const base = new URL('./', document.baseURI);

/** @param {string} path begins with a slash */
export const apiUrl = (path) => new URL(path.slice(1), base).href;

/** What tells this system's tabs from those of another one on the same host. */
export const basePath = base.pathname;

/**
 * The address as a link may have it, or nothing: only http and https lead somewhere.
 * @param {string} text
 */
export function safeUrl(text) {
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
  } catch {
    return undefined;
  }
}

// What shows nothing, and comes along when somebody copies an address. Selectors belong to the emoji before them.
const AROUND = /^[\s\p{DI}]+|((?!\p{VS})[\s\p{DI}])+$/gu;

/**
 * The address that somebody means: `example.com/a` is `https://example.com/a`. Nothing if it can't be one.
 * @param {string} text
 */
export function guessUrl(text) {
  const trimmed = text.replace(AROUND, '');
  if (/^https?:\/\//i.test(trimmed)) return safeUrl(trimmed) && trimmed;
  const isLikeOne = /^[^\s/:@]+\.[^\s/:@.]{2,}(:\d+)?([/?#]\S*)?$/.test(trimmed);
  return isLikeOne ? safeUrl(`https://${trimmed}`) && `https://${trimmed}` : undefined;
}
