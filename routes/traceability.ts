import { Type } from 'typebox';
import { traceability } from '../lib/host/traceability/traceability.ts';
import { tagged } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { Traceability } from '../store/records/traceability.ts';

export const traceabilityRoutes = [
  route('GET /api/codehost/traceability', {
    summary: 'Read how issues, Work items, sessions, pull requests and proofs are linked',
    description:
      'Read from the files of this workspace, without a request to a code host. `dangling` has broken links and invalid records.',
    query: Type.Object({
      case_id: Type.Optional(
        Type.String({
          format: 'uuid',
          description: 'Only what is linked to this Work item',
        }),
      ),
    }),
    response: Traceability,
    errors: ['not_found'],
    handler: async ({ query: { case_id } }, { store }) => {
      const { graph, etag } = await traceability(store, case_id);
      return tagged(graph, etag);
    },
  }),
];
