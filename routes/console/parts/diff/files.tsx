import { NAMED_RULE } from './named.ts';
import { oneLine } from './rows.ts';
import { GROUPS, type ListedFile } from './tree.ts';

/** As many as a page is still quick with. */
const SOME = 150;

/** The files of a diff, where no script makes a tree of them: those that the plan does not name stand first. */
export const DiffFiles = ({ files }: { files: readonly ListedFile[] }) => {
  const shown = files.slice(0, SOME);
  return (
    <div class="diff-files">
      {GROUPS.map(({ name, isNamed }) => {
        const of = shown.filter((file) => file.isNamed === isNamed);
        if (of.length === 0) return null;
        return (
          <section key={name}>
            <h2
              {...(isNamed !== undefined && { title: NAMED_RULE })}
            >{`${name} (${of.length})`}</h2>
            <ul>
              {of.map(({ path, kind, added, removed }) => (
                <li key={path}>
                  {oneLine(path)} {kind !== 'changed' && <span class="tag">{kind}</span>}{' '}
                  <span class="quiet">{`+${added} −${removed}`}</span>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {files.length > SOME && <p class="quiet">{`and ${files.length - SOME} more`}</p>}
    </div>
  );
};
