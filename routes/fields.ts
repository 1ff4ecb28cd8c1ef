import { type TProperties, Type } from 'typebox';

/** A body that need not be sent. */
export const optionalBody = <P extends TProperties>(fields: P) =>
  Type.Optional(Type.Object(fields));

/** A branch, tag or commit, as git names it. */
export const gitName = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));

/** What a new worktree begins from. */
export const BASE = gitName(
  'What a new worktree begins from: a branch, tag or commit, or `current`: what is checked out in the repository of the project. Default: as the settings say, else the default branch, local unless it is behind its upstream',
);

/** What a route says that answers with a Markdown text, and one that takes it. */
export const GIVES_MARKDOWN = { response: Type.String(), produces: 'text/markdown' } as const;
export const TAKES_MARKDOWN = { body: Type.String(), consumes: 'text/markdown' } as const;
