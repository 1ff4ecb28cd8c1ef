import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createProviders } from '../../lib/agents/providers.ts';
import { missing } from '../helpers/inside.ts';
import { writeFiles } from '../helpers/repository.ts';
import { depsFor, makePlace, specFor, watch } from '../lib/agents/fixture.ts';

const CHAT = 'sessions/2026/11/22/rollout-2026-11-22T09-00-00-theirs.jsonl';
const PLANTED = 'sessions/2026/11/22/rollout-2026-11-22T10-00-00-planted.jsonl';
const LOGIN = JSON.stringify({ tokens: { account_id: 'me', refresh_token: 'mine' } });
const EVIL = JSON.stringify({ tokens: { account_id: 'evil', refresh_token: 'evil' } });
const OTHERS = JSON.stringify({ type: 'session_meta', payload: { cwd: '/work/other' } });

describe('a Plan turn with nothing approved', () => {
  it('changes no conversation and no login in the home directory, and it is told', {
    skip: missing,
  }, async (t) => {
    const place = makePlace(t);
    const home = join(place.home, '.codex');
    writeFiles(home, { [CHAT]: 'theirs\n', 'auth.json': LOGIN });
    const script = `cd ${home} && mkdir -p $(dirname ${CHAT}) && echo '${OTHERS}' > ${CHAT} && cp ${CHAT} ${PLANTED} && echo '${EVIL}' > auth.json && echo a plan`;
    const codex = {
      kind: 'command' as const,
      output: 'text' as const,
      plan: ['sh', '-c', script],
      work: ['true'],
    };
    const deps = depsFor(place, 'auto');
    const provider = createProviders({ providers: { codex } }, deps).get('codex');
    assert.ok(provider);

    const { run, of } = watch(t, (tell) => provider.start(specFor(place, 'plan'), tell));

    assert.deepEqual(await run.done, { outcome: 'completed', plan: 'a plan' });
    assert.equal(readFileSync(join(home, CHAT), 'utf8'), 'theirs\n');
    assert.equal(existsSync(join(home, PLANTED)), false);
    assert.equal(readFileSync(join(home, 'auth.json'), 'utf8'), LOGIN);
    assert.deepEqual(of('agent_event'), [
      {
        kind: 'state_not_returned',
        raw: {
          paths: [
            { path: join(home, CHAT), why: 'it existed before, but was hidden from the run' },
            { path: join(home, PLANTED), why: 'it names another project' },
          ],
          count: 2,
        },
      },
    ]);
    const [error] = of('error');
    assert.equal(error?.code, 'login_kept');
    const kept = /It is stored in (\S+) for/.exec(error?.message ?? '')?.[1] ?? '';
    assert.deepEqual(JSON.parse(readFileSync(kept, 'utf8')), JSON.parse(EVIL));
    assert.equal(statSync(kept).mode & 0o777, 0o600);
  });
});
