import { Type } from 'typebox';
import { traceability } from '../lib/host/traceability/traceability.ts';
import { route } from '../lib/http/route.ts';
import { Traceability } from '../store/records/traceability.ts';

export const traceabilityRoutes = [
  route('GET /api/codehost/traceability', {
    summary: 'Read how issues, Work items, sessions, pull requests and proofs are linked',
    description:
      'Of this workspace, from its files alone: no host is asked. `dangling` has the links that lead nowhere, and records that cannot be read.',
    query: Type.Object({
      case_id: Type.Optional(
        Type.String({
          format: 'uuid',
          description: 'Only what hangs together with this Work item',
        }),
      ),
    }),
    response: Traceability,
    errors: ['not_found'],
    handler: ({ query: { case_id } }, { store }) => traceability(store, case_id),
  }),
];
