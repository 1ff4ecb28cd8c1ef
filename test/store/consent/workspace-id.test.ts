import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { needWorkspaceId } from '../../../store/consent/workspace-id.ts';
import { layoutOf } from '../../../store/layout.ts';
import { doorTo } from '../../crash/door.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

describe('the id of a workspace', () => {
  it('is the same one after any of its files could not be read once', async (t) => {
    const root = temporaryDirectory(t);
    const [workspace, state] = [join(root, 'workspace'), join(root, 'state')];
    mkdirSync(join(workspace, '.dossier'), { recursive: true });
    mkdirSync(state);
    const layout = layoutOf(workspace, state);
    const need = (): string => needWorkspaceId(layout, state, () => undefined);
    const id = need();
    const door = await doorTo(root);
    door.arm();
    assert.equal(need(), id);
    const reads = door.disarm().counts.get('open') ?? 0;
    assert.ok(reads >= 2, 'the id and the note of it');
    for (const errno of ['EMFILE', 'ESTALE', 'ENODEV', 'EACCES'] as const)
      for (let nth = 1; nth <= reads; nth += 1) {
        door.arm({ kind: 'open', errno, nth, stays: false });
        assert.throws(need, { errno: -constants.errno[errno] });
        assert.equal(door.disarm().failed.length, 1);
        assert.equal(need(), id);
      }
  });
});
