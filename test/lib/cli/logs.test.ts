import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { killAtEnd } from '../../helpers/at-end.ts';
import { dossier } from '../../helpers/command.ts';
import { DOSSIER } from '../../helpers/daemon.ts';
import { temporaryDirectory, writeFiles } from '../../helpers/repository.ts';

const entry = (msg: string, more: object = {}) =>
  `${JSON.stringify({ level: 'warn', time: '2026-11-25T10:00:00.000Z', ...more, msg })}\n`;

describe('dossier logs', () => {
  it('shows the last lines, each as text or as JSON, and says where there is no log', async (t) => {
    const workspace = temporaryDirectory(t);
    const said = (...words: string[]) => dossier(t, 'logs', ...words, '--workspace', workspace);
    const none = await said();
    assert.equal(none.code, 1);
    assert.match(none.stderr, /There is no log: .*daemon\.log/);
    writeFiles(workspace, {
      '.dossier/daemon.log': `${entry('First')}not JSON \u001b[2J\n${entry('Last', { port: 1 })}`,
    });
    const { code, stdout } = await said('-n', '2');
    assert.equal(code, 0);
    assert.match(stdout, /^not JSON .*\n2026-11-25T10:00:00\.000Z warn {2}Last \{"port":1\}\n$/);
    assert.equal(stdout.includes('\u001b'), false);
    const lines = (await said('--json')).stdout.trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).msg),
      ['First', 'not JSON \u001b[2J', 'Last'],
    );
    assert.equal((await said('-n', '0')).code, 2);
  });

  it('follows the file, also where it begins anew', async (t) => {
    const workspace = temporaryDirectory(t);
    const log = join(workspace, '.dossier/daemon.log');
    writeFiles(workspace, { '.dossier/daemon.log': `${entry('Old')}${entry('There')}` });
    const args = [DOSSIER, 'logs', '--follow', '-n', '1', '--json', '--workspace', workspace];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    killAtEnd(t, child);
    const steps = [
      () => appendFileSync(log, entry('Next')),
      () => writeFileSync(log, entry('Anew')),
      () => child.kill(),
    ];
    let text = '';
    for await (const piece of child.stdout.setEncoding('utf8')) {
      text += piece;
      if (text.endsWith('\n')) steps.shift()?.();
    }
    const shown = text.trimEnd().split('\n');
    assert.deepEqual(
      shown.map((line) => JSON.parse(line).msg),
      ['There', 'Next', 'Anew'],
    );
  });
});
