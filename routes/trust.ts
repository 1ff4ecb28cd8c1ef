import { Type } from 'typebox';
import { listTrusted, listWaiting, revoke, trust } from '../lib/guard/trust/trust.ts';
import { route } from '../lib/http/route.ts';
import { Trusted, TrustedValue, TrustWish, WaitingValue } from '../store/records/trust.ts';

export const trustRoutes = [
  route('GET /trust', {
    summary: 'List values in files that are ignored until you trust them',
    description:
      'Values that start programs, name endpoints or repositories, weaken isolation or send events, and that were set by file: by hand, by git or by an import.',
    response: Type.Array(WaitingValue),
    handler: (_input, service) => listWaiting(service),
  }),
  route('POST /trust', {
    operationId: 'giveTrust',
    summary: 'Trust values on this machine: all, or those that you have read',
    description: 'A value that was trusted once is trusted whenever it is set again.',
    body: TrustWish,
    response: Trusted,
    errors: ['precondition_failed'],
    handler: ({ body }, service) => trust(service, body),
  }),
  route('GET /trusted', {
    summary: 'List the settings, webhooks and commands that are trusted on this machine',
    response: Type.Array(TrustedValue),
    handler: (_input, service) => listTrusted(service),
  }),
  route('DELETE /trusted/{key}', {
    operationId: 'revokeTrust',
    summary: 'Revoke the trust in a setting, a webhook or a command',
    description:
      'The value in the files, and earlier trusted ones, are ignored until you trust them again. Values that are stricter than the defaults still apply. Active runs continue with the value; a command asks again.',
    params: { key: Type.String({ minLength: 1 }) },
    errors: ['not_found'],
    handler: ({ params }, service) => revoke(service, params.key),
  }),
];
