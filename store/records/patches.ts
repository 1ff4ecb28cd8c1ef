import { type Static, Type } from 'typebox';
import { Sha256 } from './fields.ts';

/** The hashes of the patches of a session that this machine wrote. */
export const Patches = Type.Object({
  'diff.patch': Type.Optional(Sha256),
  'since-approval.patch': Type.Optional(Sha256),
});
export type Patches = Static<typeof Patches>;
