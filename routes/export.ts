import { Type } from 'typebox';
import { route } from '../lib/http/route.ts';
import { Manifest } from '../store/records/manifest.ts';

const Archive = Type.String({
  contentMediaType: 'application/zip',
  description: 'A zip archive; x-manifest is the schema of its last entry, manifest.json',
  'x-manifest': Manifest,
});

export const exportRoutes = [
  route('GET /api/export', {
    operationId: 'exportWorkspace',
    summary: 'Download all files of the workspace as a zip archive with a manifest',
    description:
      'All files except temporary ones and those of this machine: `.dossier/`, `.git/`, locks. ' +
      'Links and unreadable files are left out and listed under `skipped`. Other calls are not blocked: each file is ' +
      'consistent in itself, and the manifest has its size and SHA-256. An archive without a manifest ' +
      'at its end is incomplete.',
    response: Archive,
    produces: 'application/zip',
    errors: ['too_many_exports', 'disk_full'],
    handler: (_input, { exporter }) => exporter.export(),
  }),
  route('GET /cases/{id}/export', {
    operationId: 'exportCase',
    summary: 'Download all files of one Work item as a zip archive with a manifest',
    description:
      'Has the layout of the export of the workspace, so that `dossier import` accepts it.',
    response: Archive,
    produces: 'application/zip',
    errors: ['too_many_exports', 'disk_full'],
    handler: ({ params }, { exporter }) => exporter.exportCase(params.id),
  }),
];
