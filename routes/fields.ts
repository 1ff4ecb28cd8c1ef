import { type TProperties, Type } from 'typebox';
import { created } from '../lib/http/answer.ts';
import type { Session } from '../store/records/session.ts';

/** An optional body. */
export const optionalBody = <P extends TProperties>(fields: P) =>
  Type.Optional(Type.Object(fields));

/** A name of a branch, tag or commit. */
export const gitName = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 200, description }));

/** The base of a new worktree. */
export const BASE = gitName(
  "The base of a new worktree: a branch, tag or commit, or `current` for the commit that is checked out in the project's repository. Default: the setting, else the default branch (its upstream if the local one is behind)",
);

/** Declarations of routes that return or accept Markdown. */
export const GIVES_MARKDOWN = { response: Type.String(), produces: 'text/markdown' } as const;
export const TAKES_MARKDOWN = { body: Type.String(), consumes: 'text/markdown' } as const;

/** 201 or 202 with a new session. */
export const createdSession = <T extends Session>(session: T) =>
  created(`/cases/${session.case_id}/sessions/${session.id}`, session);
