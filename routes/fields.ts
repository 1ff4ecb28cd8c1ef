import { type TProperties, Type } from 'typebox';

/** A body that need not be sent. */
export const optionalBody = <P extends TProperties>(fields: P) =>
  Type.Optional(Type.Object(fields));

/** A branch, tag or commit, as git names it. */
export const gitName = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));

/** What a route says that answers with a Markdown text, and one that takes it. */
export const GIVES_MARKDOWN = { response: Type.String(), produces: 'text/markdown' } as const;
export const TAKES_MARKDOWN = { body: Type.String(), consumes: 'text/markdown' } as const;
