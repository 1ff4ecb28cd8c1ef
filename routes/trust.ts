import { Type } from 'typebox';
import { listTrusted, listWaiting, revoke, trust } from '../lib/guard/trust/trust.ts';
import { route } from '../lib/http/route.ts';
import { Trusted, TrustedValue, TrustWish, WaitingValue } from '../store/records/trust.ts';

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
  route('GET /trusted', {
    summary:
      'List the settings, receivers of events and commands that you have trusted on this machine',
    response: Type.Array(TrustedValue),
    handler: (_input, service) => listTrusted(service),
  }),
  route('DELETE /trusted/{key}', {
    operationId: 'revokeTrust',
    summary: 'Take the trust in a setting, a receiver of events or a command back, at once',
    description:
      'Its value in the files waits again, as do all that were trusted before. What is stricter than the defaults goes on to apply. Runs that began with it go on; a command is asked for again.',
    params: { key: Type.String({ minLength: 1 }) },
    errors: ['not_found'],
    handler: ({ params }, service) => revoke(service, params.key),
  }),
];
