// What the modules expect of a browser, as far as these tests need it. Imported first.

// Newer versions of Node.js have one, which knows of no network.
globalThis.navigator ??= { onLine: true };
globalThis.document = { baseURI: 'http://127.0.0.1:4566/_aws/execute-api/c0ffee00/app', querySelector: () => null };

for (const name of ['sessionStorage', 'localStorage']) {
  const stored = new Map();
  // Newer versions of Node.js have them, and warn.
  Object.defineProperty(globalThis, name, {
    value: {
      getItem: (key) => stored.get(key) ?? null,
      setItem: (key, text) => stored.set(key, text),
      removeItem: (key) => stored.delete(key),
    },
  });
}
globalThis.location = { hash: '' };
const go = (_state, _title, address) => address && (location.hash = address);
globalThis.history = { state: null, pushState: go, replaceState: go };
globalThis.scrollY = 0;
globalThis.addEventListener = () => {};
// Node.js has one, which would keep a test from ending.
globalThis.BroadcastChannel = class {
  postMessage() {}
};

// What is planned for later doesn't keep a test from ending.
const later = globalThis.setTimeout;
globalThis.setTimeout = (work, ms, ...rest) => {
  const timer = later(work, ms, ...rest);
  if (ms > 1_000) timer.unref();
  return timer;
};

/** Answers requests one after another, and notes them. */
export function answering(...answers) {
  const requests = [];
  globalThis.fetch = async (url, options = {}) => {
    requests.push({ url, ...options });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    const { status = 200, body = {}, headers = {} } = answer ?? {};
    return new Response(status === 204 ? null : JSON.stringify(body), { status, headers });
  };
  return requests;
}
