import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from '../../../store/records/machine.ts';
import { lookAtGround } from '../../sandbox/capabilities.ts';
import type { Service } from '../../service.ts';
import { unheldOn } from './unheld.ts';

/** Where things are on this machine, and what of the boundary it cannot hold, as the daemon says it at its start. */
export const machineOf = ({ store, sandbox }: Service): Machine => {
  const { root } = store.layout;
  const { bavail, blocks, bsize } = statfsSync(root);
  return {
    ...{ workspace: root, internals: join(root, '.dossier') },
    disk: { free: bavail * bsize, total: blocks * bsize },
    unheld: unheldOn({ ...lookAtGround(), sandbox: sandbox() }),
  };
};
