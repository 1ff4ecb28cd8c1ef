/**
 * Real agents at pinned versions, through the daemon, with a scripted model on loopback: `npm run test:agents`. With
 * names only those: `npm run test:agents -- claude codex-command only=pause`. Prints the results as a table, of these and of
 * former runs.
 */
import { after, describe, it, type TestContext } from 'node:test';
import { realAgents } from './agents.ts';
import { attaches } from './attach.ts';
import { abort, asks, type Cells, COLUMNS, job, pause, planWrites } from './checks.ts';
import { chooses } from './choice.ts';
import { commits } from './commit.ts';
import { hears } from './message.ts';
import { outage } from './outage.ts';
import { questions } from './questions.ts';
import { revises } from './revise.ts';
import { setUpReaches } from './set-up.ts';
import { keepRow, tableOf } from './table.ts';

// Gemini CLI asks a model that fails for almost four minutes, and there are four outages.
const LIMIT_MS = 20 * 60_000;
const KINDS = ['acp', 'command'] as const;
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('only='));
const only = process.argv.find((word) => word.startsWith('only='))?.slice(5);

for (const { id: agent, title, ...packages } of realAgents('')) {
  for (const kind of KINDS) {
    const id = `${agent}-${kind}`;
    if (wanted.length > 0 && !wanted.includes(id) && !wanted.includes(agent)) continue;
    const { name, version } = packages[kind];
    const cells: Cells = {};
    const tried = { agent, kind };

    describe(`${title} ${version} (${kind})`, () => {
      const check = (
        claim: string,
        columns: string[],
        attempt: (t: TestContext) => Promise<Cells | string>,
      ): void => {
        if (only !== undefined && !claim.includes(only)) return;
        it(claim, { timeout: LIMIT_MS }, async (t) => {
          for (const column of columns) cells[column] ??= 'FAILS';
          const seen = await attempt(t);
          Object.assign(cells, typeof seen === 'string' ? { [columns[0] ?? '']: seen } : seen);
        });
      };
      check('does the plan as approved', [COLUMNS.job, COLUMNS.usage, COLUMNS.mcp], (t) =>
        job(t, tried),
      );
      check('plans again as it is asked', [COLUMNS.revised], (t) => revises(t, tried));
      check('writes nothing in Plan mode in the sandbox', [COLUMNS.sandboxed], (t) =>
        planWrites(t, tried, 'auto'),
      );
      check('leaves nothing written in Plan mode without it', [COLUMNS.checked], (t) =>
        planWrites(t, tried, 'off'),
      );
      check('goes on after a pause', [COLUMNS.pause], (t) => pause(t, tried));
      check('hears each message once', [COLUMNS.message], (t) => hears(t, tried));
      check('commits with git in the sandbox', [COLUMNS.commits], (t) => commits(t, tried));
      check('asks before it runs a command', [COLUMNS.asks], (t) => asks(t, tried));
      check('asks the model that is chosen', [COLUMNS.choice], (t) => chooses(t, tried));
      check('is not done when its model fails', [COLUMNS.outage], (t) => outage(t, tried));
      check("has the operator's own set-up", [COLUMNS.setUp], (t) => setUpReaches(t, tried));
      check('attaches its interface', [COLUMNS.attach], (t) => attaches(t, tried));
      if (id === 'claude-acp')
        check('asks the operator something', [], (t) => questions(t, tried).then(() => ({})));
      check('leaves no process behind', [COLUMNS.abort], (t) => abort(t, tried));
      after(() => {
        const date = new Date().toISOString().slice(0, 10);
        const label = `${title}, \`${kind}\`: ${name} ${version}`;
        console.log(`\n${tableOf(keepRow(id, { name: label, date, cells }))}\n`);
      });
    });
  }
}
