import { Type } from 'typebox';

/** One message of the Model Context Protocol, as far as it is looked at before the protocol's own code does. */
export const Message = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    method: Type.Optional(Type.String()),
    id: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  },
  { additionalProperties: true },
);
