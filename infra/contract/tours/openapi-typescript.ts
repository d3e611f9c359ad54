// What a user does first, with openapi-fetch and the types that openapi-typescript makes of docs/openapi.yaml: `tour.js URL
// ODD-LINK…`. clients.py runs it.
import createClient, { type Middleware } from 'openapi-fetch';

import type { components, paths } from './schema.js';

declare const process: { argv: string[] };
const DESTINATION = 'https://doc.rust-lang.org/book/';

function answered<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

function expect(fine: boolean, answer: unknown): void {
  if (!fine) throw new Error(`unexpected: ${JSON.stringify(answer)}`);
}

async function tour(baseUrl: string, ...oddLinks: string[]): Promise<void> {
  const client = createClient<paths>({ baseUrl });
  const email = `tour-${Math.random().toString(36).slice(2)}@example.com`;
  const password = 'correct horse battery';
  const account = answered(await client.POST('/api/auth/register', { body: { email, password } }));
  expect(account.email === email, account);
  const { token } = answered(await client.POST('/api/auth/login', { body: { email, password } }));
  const authorize: Middleware = {
    onRequest: ({ request }) => request.headers.set('Authorization', `Bearer ${token}`),
  };
  client.use(authorize);

  // openapi-fetch infers the type of a call from what is given, so it finds no unknown member; the type of the body does.
  const body: components['schemas']['NewLink'] = { url: DESTINATION, title: 'The book', tags: ['book'] };
  const link = answered(await client.POST('/api/shorten', { body }));
  expect(link.original_url === DESTINATION, link);
  const { links } = answered(await client.GET('/api/links'));
  expect(links.length === 1 && links[0]?.expires_at === null, links);

  const follow = async (url: string) => (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
  expect((await follow(link.short_url)) === DESTINATION, link);
  for (const odd of oddLinks) {
    const location = await follow(odd);
    expect(new URL(location).hostname === 'example.com', location);
  }
  const deadline = Date.now() + 60_000;
  const params = { path: { code: link.short_code } };
  for (let clicks = 0; clicks !== 1; ) {
    const statistics = answered(await client.GET('/api/stats/{code}', { params }));
    // Who asks for a table gets text.
    if (typeof statistics === 'string') throw new Error(statistics);
    clicks = statistics.total_clicks;
    expect(Date.now() < deadline, clicks);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const [baseUrl = '', ...oddLinks] = process.argv.slice(2);
tour(baseUrl, ...oddLinks);
