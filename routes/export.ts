import { Type } from 'typebox';
import { route } from '../lib/http/route.ts';
import { Manifest } from '../store/records/manifest.ts';

const Archive = Type.String({
  contentMediaType: 'application/zip',
  description: 'A zip archive; its last entry, manifest.json, is as x-manifest says',
  'x-manifest': Manifest,
});

export const exportRoutes = [
  route('GET /api/export', {
    operationId: 'exportWorkspace',
    summary: 'Download all files of the workspace as a zip archive with a manifest',
    description:
      'The tree as it is, but for what is of this machine or of the moment: `.dossier/`, `.git/`, locks, temporary files. ' +
      'Links and what cannot be read are left out and listed under `skipped`. Nothing waits meanwhile: each file is ' +
      'in the archive as it was at one moment, and the manifest has its size and SHA-256. An archive without a manifest ' +
      'at its end is broken off.',
    response: Archive,
    produces: 'application/zip',
    errors: ['too_many_exports', 'disk_full'],
    handler: (_input, { exporter }) => exporter.export(),
  }),
  route('GET /cases/{id}/export', {
    operationId: 'exportCase',
    summary: 'Download all files of one Work item as a zip archive with a manifest',
    description:
      'As the export of the workspace, of which it is a part: its directory stands in it where it stands there, so that `dossier import` takes it.',
    response: Archive,
    produces: 'application/zip',
    errors: ['too_many_exports', 'disk_full'],
    handler: ({ params }, { exporter }) => exporter.exportCase(params.id),
  }),
];
