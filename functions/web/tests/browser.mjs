// What the modules expect of a browser, as far as these tests need it. Imported first.

// Newer versions of Node.js have one, which knows of no network.
globalThis.navigator ??= { onLine: true };
globalThis.document = { baseURI: 'http://127.0.0.1:4566/_aws/execute-api/c0ffee00/app' };

const stored = new Map();
globalThis.sessionStorage = {
  getItem: (key) => stored.get(key) ?? null,
  setItem: (key, text) => stored.set(key, text),
  removeItem: (key) => stored.delete(key),
};
// Node.js has one, which would keep a test from ending.
globalThis.BroadcastChannel = class {
  postMessage() {}
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
