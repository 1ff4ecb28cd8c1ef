import { itemOf } from '../reach/item.ts';
import { verb } from './verb.ts';

/** `dossier show ITEM`: a Work item with its sessions, and where its files are. */
export const show = verb(async ({ dossier, words: [word = ''], values, out }) => {
  const id = await itemOf(dossier, word);
  const [item, sessions] = await Promise.all([
    dossier.call('GET /cases/{id}', { id }),
    dossier.call('GET /cases/{id}/sessions', { id }),
  ]);
  if (values.json === true) return void out.json({ ...item, sessions });
  out.say({ style: 'bold', text: item.title });
  out.say(`${item.state} · ${item.type} · ${item.project} · ${id}`);
  if (item.description.trim() !== '') out.say(`\n${item.description.trim()}\n`);
  out.table(sessions.map((each) => [each.id.slice(0, 8), each.mode, each.status, each.provider]));
  return undefined;
});
