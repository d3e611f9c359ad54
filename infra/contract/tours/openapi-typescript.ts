// What a user does first, with openapi-fetch and the types that openapi-typescript makes of docs/openapi.yaml: `tour.js URL
// ODD-LINK…`. clients.py runs it.
import createClient, { type Client, type Middleware } from 'openapi-fetch';

import type { components, paths } from './schema.js';

type Schemas = components['schemas'];
declare const process: { argv: string[] };
const DESTINATION = 'https://doc.rust-lang.org/book/';

class Refused extends Error {
  constructor(readonly problem: Schemas['Problem']) {
    super(problem.detail);
  }
}

function answered<T>({ data, error }: { data?: T; error?: Schemas['Problem'] }): T {
  if (error) throw new Refused(error);
  return data as T;
}

function expect(fine: boolean, answer: unknown): void {
  if (!fine) throw new Error(`unexpected: ${JSON.stringify(answer)}`);
}

/** All links, page by page. The pages are small only to have several. */
async function* links(client: Client<paths>): AsyncGenerator<Schemas['Link']> {
  for (let after: string | null | undefined; after !== null; ) {
    const page = answered(await client.GET('/api/links', { params: { query: { limit: 1, after } } }));
    yield* page.links;
    after = page.next_cursor;
  }
}

/** A change, unless somebody else has changed the link meanwhile. The second one comes too late. */
async function change(client: Client<paths>, code: string): Promise<void> {
  const { response } = await client.GET('/api/links/{code}', { params: { path: { code } } });
  const params = { path: { code }, header: { 'If-Match': response.headers.get('ETag') ?? '' } };
  answered(await client.PATCH('/api/links/{code}', { params, body: { description: 'To read' } }));
  try {
    answered(await client.PATCH('/api/links/{code}', { params, body: { description: 'Read' } }));
  } catch (refused) {
    if (!(refused instanceof Refused && refused.problem.code === 'precondition_failed')) throw refused;
    return;
  }
  throw new Error('the stale ETag was taken');
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
  const body: Schemas['GivenLink'] = { url: DESTINATION, title: 'The book', tags: ['book'] };
  const link: Schemas['Link'] = answered(await client.POST('/api/links', { body }));
  expect(link.original_url === DESTINATION, link);
  answered(await client.POST('/api/links', { body: { url: `${DESTINATION}ch01-00-getting-started.html` } }));
  const found = [];
  for await (const each of links(client)) found.push(each.short_code);
  expect(found.length === 2, found);
  await change(client, link.short_code);

  const follow = async (url: string) => (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
  expect((await follow(link.short_url)) === DESTINATION, link);
  for (const odd of oddLinks) {
    const location = await follow(odd);
    expect(new URL(location).hostname === 'example.com', location);
  }
  const deadline = Date.now() + 60_000;
  const path = { code: link.short_code };
  const from = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
  for (let clicks = 0; clicks !== 1; ) {
    const statistics = answered(await client.GET('/api/stats/{code}', { params: { path, query: { from } } }));
    // Who asks for a table gets text.
    if (typeof statistics === 'string') throw new Error(statistics);
    clicks = statistics.total_clicks;
    expect(Date.now() < deadline, clicks);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const query = { from, format: 'csv' } as const;
  const table = answered(await client.GET('/api/stats/{code}', { params: { path, query }, parseAs: 'text' }));
  expect(table.startsWith('period,'), table);
}

const [baseUrl = '', ...oddLinks] = process.argv.slice(2);
tour(baseUrl, ...oddLinks);
