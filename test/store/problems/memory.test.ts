/** Notes with a merge conflict, which agents would read, are reported as every other file. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { ProblemRecord } from '../../../store/records/problem.ts';
import { withCase } from '../../helpers/work-item.ts';

const CONFLICT = 'Before.\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n';

describe('a memory file with a merge conflict', () => {
  for (const scope of ['of a Work item', 'of the workspace'])
    it(`is a problem with its line until it is resolved, ${scope}`, async (t) => {
      const { call, item, running } = await withCase(t);
      const folder = scope === 'of a Work item' ? `${item.path}/memory` : 'memory';
      const file = `${folder}/notes.md`;
      const path = join(running.workspace, file);
      const problems = async (query = '') => {
        const { body } = await call<ProblemRecord[]>('GET', `/api/diagnostics${query}`);
        return body.map(({ file: at, code, line }) => [at, code, line]);
      };
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, CONFLICT);
      assert.deepEqual(await problems(), [[file, 'conflict_markers', 2]]);
      assert.deepEqual(await problems(`?path=${folder}`), [[file, 'conflict_markers', 2]]);
      writeFileSync(path, 'Before.\nours\n');
      assert.deepEqual(await problems(`?path=${folder}`), []);
      writeFileSync(path, '');
      assert.deepEqual(await problems(), []);
    });
});
