import { oneLine } from './rows.ts';

/** A file by which something runs later, and when. */
export interface RunsFile {
  path: string;
  runs: readonly string[];
}

/** As many as one reads. */
const SOME = 100;

/** What of a diff runs later: listed before all else. Nothing where nothing does. */
export const RunsLater = ({ files }: { files: readonly RunsFile[] }) => {
  if (files.length === 0) return null;
  return (
    <section class="box diff-runs">
      <h2>{`Runs later, outside of the sandbox (${files.length})`}</h2>
      <ul>
        {files.slice(0, SOME).map(({ path, runs }) => (
          <li key={path}>
            <code>{oneLine(path)}</code>
            {` ${runs.map(oneLine).join('; ')}`}
          </li>
        ))}
      </ul>
      {files.length > SOME && <p class="quiet">{`and ${files.length - SOME} more`}</p>}
    </section>
  );
};
