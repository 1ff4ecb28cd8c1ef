import { Type } from 'typebox';
import { listWaiting, trust } from '../lib/guard/trust/trust.ts';
import { route } from '../lib/http/route.ts';
import { Trusted, TrustWish, WaitingValue } from '../store/records/trust.ts';

export const trustRoutes = [
  route('GET /trust', {
    summary: 'List what stands in files and does not hold until you say so',
    description:
      'What starts programs, names endpoints or repositories, loosens isolation or sends events out, and came by hand, by git or by an import.',
    response: Type.Array(WaitingValue),
    handler: (_input, service) => listWaiting(service),
  }),
  route('POST /trust', {
    operationId: 'giveTrust',
    summary: 'Make what waits hold on this machine: all of it, or the values that you looked at',
    description: 'A value that was trusted once holds whenever it comes again.',
    body: TrustWish,
    response: Trusted,
    errors: ['precondition_failed'],
    handler: ({ body }, service) => trust(service, body),
  }),
];
