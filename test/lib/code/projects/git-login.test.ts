import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { withLogin } from '../../../../lib/code/projects/git-login.ts';
import type { CodeHost } from '../../../../lib/codehost/code-host.ts';
import type { Service } from '../../../../lib/service.ts';
import { remoteRefs } from '../../../../lib/tools/git/remote/remote.ts';
import { openGitServer } from '../../../helpers/git-server.ts';
import { known, makeRepository, testGit } from '../../../helpers/repository.ts';

/** A repository whose remote asks for a login, and a code host that has one. */
const asked = async (t: TestContext) => {
  const server = await openGitServer(t);
  const made = makeRepository(t);
  const hosted = server.host('acme/app.git', made);
  made.git('remote', 'add', 'origin', hosted.url);
  const git = testGit(t);
  const given: string[] = [];
  const host: Pick<CodeHost, 'gitLogin'> = {
    gitLogin: async (name) => {
      given.push(name);
      return { username: 'x-access-token', password: server.token };
    },
  };
  const service = { git, codeHost: () => host } as unknown as Service;
  const place = known(made);
  const list = (name: string) =>
    withLogin(
      service,
      { place, remote: 'origin', host: name, direction: 'fetch' },
      async (remote) => [...(await remoteRefs(git.at(place), { remote })).keys()],
    );
  return { server, made, given, list, at: new URL(server.url).host };
};

describe('withLogin', () => {
  it("takes the code host's token for its own server, where git has no login", async (t) => {
    const { list, given, at } = await asked(t);
    assert.deepEqual(await list(at), ['HEAD', 'refs/heads/main']);
    assert.deepEqual(given, [at]);
  });

  it('gives it to nobody else, wherever the repository leads', async (t) => {
    const { list, given } = await asked(t);
    await assert.rejects(list('github.com'), { code: 'codehost_auth_missing' });
    assert.deepEqual(given, []);
  });

  it("leaves git's own login alone, also one that is not taken", async (t) => {
    const { list, given, made, server, at } = await asked(t);
    const own = server.url.replace('://', '://me:wrong@');
    made.git('remote', 'set-url', 'origin', `${own}/acme/app.git`);
    await assert.rejects(list(at), { code: 'codehost_auth_invalid' });
    assert.deepEqual(given, []);
  });
});
