/** A real agent, Qwen Code, writes a planning file in a turn of its own that only reads. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import type { PlanningStage } from '../../store/records/planning.ts';
import { withQwen } from '../helpers/qwen.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { type Rule, startScriptedModel } from '../helpers/scripted-model.ts';
import { withCase } from '../helpers/work-item.ts';

const HYPOTHESES = '# Hypotheses: It subtracts\n\n## H1: The operator in math.ts is wrong';

describe('a planning stage by a real agent', () => {
  it('is what it says at last, and what it tries to write is not there', async (t) => {
    const rules: Rule[] = [];
    const model = await startScriptedModel(t, rules);
    const options = withQwen(temporaryDirectory(t), model, 'auto');
    const files = { 'math.ts': 'export const add = (a: number, b: number) => a - b;\n' };
    const description = 'add() subtracts in math.ts.';
    const it = await withCase(t, { description }, { ...options, files });
    const { workspace } = it.running;
    const tree = join(workspace, '.dossier/worktrees', basename(it.item.path));
    const command = 'echo sneaky > sneaky.txt';
    rules.push({
      when: 'You write one planning file',
      steps: [
        [{ tool: 'read_file', args: { file_path: join(tree, 'math.ts') } }],
        [{ tool: 'run_shell_command', args: { command, is_background: false } }],
        [{ text: HYPOTHESES }],
      ],
    });
    const path = `/api/cases/${it.item.id}/planning/hypotheses-file`;
    const { status, body, text } = await it.call<PlanningStage>('POST', path);
    assert.equal(status, 200, text);
    assert.deepEqual([body.content, body.generated_by], [`${HYPOTHESES}\n`, 'qwen']);
    assert.equal(it.read('memory/hypotheses.md'), `${HYPOTHESES}\n`);
    const turn = model.requests.filter(({ prompt }) => prompt.includes('planning file'));
    assert.ok(turn.some(({ results }) => results.join('').includes('a - b')));
    assert.ok(turn.every(({ prompt }) => prompt.includes('add() subtracts in math.ts.')));
    assert.deepEqual(readdirSync(tree).toSorted(), ['.git', 'math.ts']);
    assert.equal(existsSync(join(it.dir, 'sessions/lock.md')), false);
  });
});
