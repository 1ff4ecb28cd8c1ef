import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toRefusal } from '../../../../lib/cli/connection/refused.ts';
import { NoConnection, Problem } from '../../../../lib/client/client.ts';
import { configOf } from '../../../../lib/config.ts';

const config = configOf({ workspace: '/tmp/my workspace' }, { HOME: '/home/me' });
const said = (error: Error): string => (toRefusal(error, config, {}) as Error).message;
const at = "--workspace '/tmp/my workspace'";

describe('toRefusal', () => {
  it('says that a daemon which has no such call is of another release', () => {
    const members = { code: 'route_not_found', detail: 'There is no POST /cases/1/new.' };
    assert.equal(
      said(new Problem(404, members)),
      `The daemon is of another release than this command: There is no POST /cases/1/new. Start it again: dossier stop ${at}, then dossier up ${at}`,
    );
  });

  it('says that a change may have been made where the daemon ended, and how to start one', () => {
    const error = toRefusal(new NoConnection('gone'), config, {}) as Error;
    assert.equal(error.name, 'NoDaemon');
    assert.match(error.message, /A change may have been made: look before you repeat it\./);
    assert.ok(error.message.endsWith(`dossier ${at} starts one.`), error.message);
  });
});
