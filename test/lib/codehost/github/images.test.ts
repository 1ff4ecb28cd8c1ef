import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { webOf } from '../../../../lib/codehost/github/address.ts';
import { type ImageAccess, image } from '../../../../lib/codehost/github/images.ts';

interface Sent {
  url: string;
  authorization: string | undefined;
}

/** A context whose network answers with a redirect where there is one, else with the address itself. */
const deskOf = (redirects: Record<string, string> = {}, web = 'https://github.com') => {
  const sent: Sent[] = [];
  const context: ImageAccess = {
    web: () => web,
    seconds: () => 5,
    tokens: { of: async () => ({ value: 'secret', source: 'GH_TOKEN' }) },
    fetch: async (url, { headers }) => {
      const { authorization } = headers as Record<string, string>;
      sent.push({ url, authorization });
      const location = redirects[url];
      return location === undefined
        ? new Response(url)
        : new Response(null, { status: 302, headers: { location } });
    },
  };
  return { context, sent };
};

const ATTACHED = 'https://github.com/user-attachments/assets/one';

describe('image', () => {
  it('shows the token to the host itself and to no server that it leads to', async () => {
    const kept = 'https://github-production-user-asset-6210df.s3.amazonaws.com/1/2.png?sig=x';
    const { context, sent } = deskOf({ [ATTACHED]: kept });
    assert.equal((await image(context, 'github.com', ATTACHED)).toString(), kept);
    assert.deepEqual(sent, [
      { url: ATTACHED, authorization: 'Bearer secret' },
      { url: kept, authorization: undefined },
    ]);
  });

  it('shows none to where images are kept, nor to the host when it leads to itself', async () => {
    const named = 'https://user-images.githubusercontent.com/1/2.png';
    const { context, sent } = deskOf({ [ATTACHED]: '/login', [named]: ATTACHED });
    await image(context, 'github.com', named).catch(() => undefined);
    await image(context, 'github.com', ATTACHED);
    assert.deepEqual(
      sent.map(({ authorization }) => authorization),
      [undefined, undefined, undefined, 'Bearer secret', undefined],
    );
  });

  for (const url of [
    'http://github.com/user-attachments/assets/one',
    'https://github.com/settings/tokens',
    'https://github.com.evil.example/user-attachments/assets/one',
    'https://githubusercontent.com.evil.example/one.png',
    'https://evil.example/githubusercontent.com',
    'https://user:word@github.com/user-attachments/assets/one',
    'https://github.com:444/user-attachments/assets/one',
    'https://mine.s3.amazonaws.com/one.png',
    'https://169.254.169.254/latest',
    'https://[::1]/one.png',
    'file:///etc/passwd',
    'data:image/png;base64,AA',
    'no address',
  ])
    it(`asks nobody for ${url}`, async () => {
      const { context, sent } = deskOf();
      await assert.rejects(image(context, 'github.com', url), /not on a server of the code host/);
      assert.deepEqual(sent, []);
    });

  it('follows no way to another server', async () => {
    for (const url of [
      'http://github.com/user-attachments/assets/one',
      'https://evil.example/one.png',
      'http://169.254.169.254/latest',
      '//localhost/one.png',
      'file:///etc/passwd',
      'data:image/png;base64,AA',
    ]) {
      const { context, sent } = deskOf({ [ATTACHED]: url });
      await assert.rejects(
        image(context, 'github.com', ATTACHED),
        /not on a server of the code host/,
      );
      assert.equal(sent.length, 1, url);
    }
  });

  it('reads from an Enterprise server and where that keeps its media, and from nowhere of GitHub', async () => {
    const { context, sent } = deskOf({}, webOf('ghe.example', 'https://ghe.example/api/v3'));
    await image(context, 'ghe.example', 'https://ghe.example/user-attachments/assets/one');
    await image(context, 'ghe.example', 'https://media.ghe.example/one.png');
    assert.deepEqual(
      sent.map(({ authorization }) => authorization),
      ['Bearer secret', undefined],
    );
    await assert.rejects(image(context, 'ghe.example', ATTACHED), /not on a server/);
  });
});

describe('webOf', () => {
  it("is GitHub's own server, or where the API is", () => {
    for (const [host, api, web] of [
      ['github.com', 'https://api.github.com', 'https://github.com'],
      ['acme.ghe.com', 'https://api.acme.ghe.com', 'https://acme.ghe.com'],
      ['ghe.example', 'https://ghe.example/api/v3', 'https://ghe.example'],
      ['github.com', 'http://127.0.0.1:9', 'http://127.0.0.1:9'],
    ] as const)
      assert.equal(webOf(host, api), web);
  });
});
