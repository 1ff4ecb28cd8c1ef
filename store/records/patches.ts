import { type Static, Type } from 'typebox';
import { Sha256 } from './fields.ts';

// Null while it is written: after a crash then, nothing is known of it.
const Hash = Type.Optional(Type.Union([Sha256, Type.Null()]));

/** The hashes of the patches of a session that this machine wrote. */
export const Patches = Type.Object({ 'diff.patch': Hash, 'since-approval.patch': Hash });
export type Patches = Static<typeof Patches>;
