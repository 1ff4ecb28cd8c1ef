import assert from 'node:assert/strict';
import type { Case } from '../../../store/records/case.ts';
import { readExport } from '../../helpers/exported.ts';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, get, type Row } from './surface.ts';

const EXPORT: Row[] = [
  {
    method: 'GET',
    path: '/api/export',
    does: 'returns a zip archive of all Work items, sessions and memory files with a manifest',
    call: () => call('GET', '/api/export'),
    status: 200,
    check: async ({ bytes }: Answered) => {
      const { manifest } = await readExport(bytes);
      assert.equal(manifest.counts.cases, (await get<Case[]>('/cases')).length);
    },
  },
];

describeRows('export', EXPORT);
