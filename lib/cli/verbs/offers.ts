import type { Dossier } from '../../client/client.ts';
import { itemOf } from '../connection/item.ts';
import { verb } from './verb.ts';

const MOST = 100;

type Rows = readonly (readonly string[])[];

const OFFERS: Readonly<Record<string, (dossier: Dossier, item: string) => Promise<Rows>>> = {
  items: async (dossier) => {
    const query = { order: 'newest', fields: 'title', limit: MOST } as const;
    const items = await dossier.call('GET /cases', { query });
    return items.map(({ id, title = '' }) => [id.slice(0, 8), title]);
  },
  proofs: async (dossier, item) => {
    const id = await itemOf(dossier, item);
    const proofs = await dossier.call('GET /cases/{id}/proof', { id });
    return proofs.map((each) => [each.id.slice(0, 8), each.file ?? each.type]);
  },
  providers: async (dossier) =>
    (await dossier.call('GET /api/sessions/providers')).map(({ id }) => [id]),
  projects: async (dossier) => {
    const { projects } = await dossier.call('GET /settings');
    return projects.map(({ name }) => [name]);
  },
};

/** Whether `dossier completion WORD` lists values: `items`, `providers`, `projects`, or `proofs:ITEM`. */
export const isOffer = (word: string): boolean => Object.hasOwn(OFFERS, word.split(':')[0] ?? '');

/** The values for the scripts of the shells, each in a line with a description. Begins no daemon: a key that is pressed asks. */
export const offers = verb(async ({ dossier, words: [word = ''], out }) => {
  const [kind = '', ...item] = word.split(':');
  out.table((await OFFERS[kind]?.(dossier, item.join(':'))) ?? []);
  return undefined;
});
