// What holds until .ci/client-types.mjs has written operations.ts beside it, which goes before this file: all is allowed.
// So a first `tsc` works by itself.
type Anything = ReturnType<typeof JSON.parse>;

export type ErrorCode = string;

export interface Operations {
  [operation: string]: { input: Anything; answers: { 200: Anything }; events: Anything };
}
