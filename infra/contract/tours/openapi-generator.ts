// What a user does first, with the client that openapi-generator makes of docs/openapi.yaml: `tour.js URL`. clients.py runs it.
import { AccountsApi, Configuration, LinksApi, StatisticsApi } from './client/index';

declare const process: { argv: string[] };
const DESTINATION = 'https://doc.rust-lang.org/book/';

function expect(fine: boolean, answer: unknown): void {
  if (!fine) throw new Error(`unexpected: ${JSON.stringify(answer)}`);
}

async function tour(basePath: string): Promise<void> {
  const stranger = new Configuration({ basePath });
  const accounts = new AccountsApi(stranger);
  const email = `tour-${Math.random().toString(36).slice(2)}@example.com`;
  const password = 'correct horse battery';
  const account = await accounts.register({ newAccount: { email, password } });
  expect(account.email === email, account);
  const { token } = await accounts.logIn({ credentials: { email, password } });

  const links = new LinksApi(new Configuration({ basePath, accessToken: token }));
  const link = await links.shortenUrl({ newLink: { url: DESTINATION, title: 'The book', tags: ['book'] } });
  expect(link.originalUrl === DESTINATION, link);
  const listed = await links.listLinks();
  expect(listed.links.length === 1 && listed.links[0]?.expiresAt === null, listed);

  const followed = await fetch(link.shortUrl, { redirect: 'manual' });
  expect(followed.headers.get('location') === DESTINATION, followed.status);
  const deadline = Date.now() + 60_000;
  for (let clicks = 0; clicks !== 1; ) {
    clicks = (await new StatisticsApi(stranger).showStatistics({ code: link.shortCode })).totalClicks;
    expect(Date.now() < deadline, clicks);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

tour(process.argv[2] ?? '');
