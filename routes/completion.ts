import { Type } from 'typebox';
import { complete } from '../lib/code/language-server/complete.ts';
import { route } from '../lib/http/route.ts';
import { LanguageName, SERVING, scope } from './language-server.ts';

const Place = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });

export const completionRoutes = [
  route('POST /editor/complete', {
    operationId: 'completeAtCursor',
    summary: 'What could stand at the cursor, from the language server',
    description:
      'The position counts from 0, in UTF-16 units. With `content` the text as the editor has it, saved or not. The items are those of the Language Server Protocol.',
    body: Type.Object({
      language: LanguageName,
      ...scope,
      path: Type.String({ minLength: 1, maxLength: 4096, examples: ['src/main.ts'] }),
      position: Type.Object({ line: Place, character: Place }),
      content: Type.Optional(Type.String({ maxLength: 4 * 1_048_576 })),
    }),
    maxBytes: 25 * 1_048_576,
    response: Type.Object({ items: Type.Array(Type.Record(Type.String(), Type.Unknown())) }),
    errors: [...SERVING, 'file_busy'],
    handler: ({ body }, service) => complete(service, body),
  }),
];
