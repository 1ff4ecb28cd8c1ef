import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { visible } from '../../../store/base/visible.ts';
import { InReach } from './form.tsx';

interface CopyProps {
  text: string;
  /** What the button says. */
  label?: string;
  /** What is copied, for those who hear it. */
  name?: string;
  class?: string;
  keys?: string;
}

/** Puts a text where the operator can paste it; not there without scripts. */
export const Copy = ({ text, label = 'Copy', name, keys, ...rest }: CopyProps) => {
  const isLive = useContext(InReach) !== undefined;
  const [said, setSaid] = useState<string>();
  if (!isLive) return null;
  const copy = () =>
    void written(text).then(
      () => setSaid('Copied'),
      () => setSaid('Not allowed'),
    );
  return (
    <button
      type="button"
      {...rest}
      onClick={copy}
      {...(keys !== undefined && { 'data-key': keys })}
      {...(name !== undefined && { 'aria-label': `${said ?? label}: ${name}` })}
    >
      {said ?? label}
    </button>
  );
};

// Only at an address that the browser trusts is there a clipboard.
const written = async (text: string): Promise<void> => {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (clipboard === undefined) throw new Error('No clipboard');
  await clipboard.writeText(text);
};

/** A path, to be taken elsewhere, or opened where an editor can. */
export const Path = ({ name, path }: { name: string; path: string }) => (
  <>
    <code>{visible(path)}</code> <Copy class="small" text={path} name={name} />{' '}
    <OpenInEditor root={path} class="small button" label="Open" name={name} />
  </>
);

interface OpenProps {
  /** Of the worktree, or the path itself. */
  root: string;
  /** Below the root. */
  path?: string;
  label?: string;
  name?: string;
  class?: string;
}

/** Opens a directory or a file in the editor that answers to such links. */
export const OpenInEditor = ({ root, path, label = OPEN, name, ...rest }: OpenProps) => {
  const href = editorLink(root, path);
  if (href === undefined) return null;
  return (
    <a href={href} {...rest} {...(name !== undefined && { 'aria-label': `${label}: ${name}` })}>
      {label}
    </a>
  );
};

const OPEN = 'Open in my editor';

/** Where an editor opens it; undefined for a path that leads out of the root, or hides something. */
export const editorLink = (root: string, path?: string, line?: number): string | undefined => {
  const whole = path === undefined ? root : `${root}/${path}`;
  const [top, ...names] = whole.split('/');
  const leadsOut = top !== '' || names.some((name) => /^\.{0,2}$/.test(name));
  // Whatever turns it round or cannot be seen is no path that one opens by a link.
  if (leadsOut || visible(whole) !== whole || /[\n\t]/.test(whole)) return undefined;
  // Editors read a place behind a colon.
  const encoded = names.map((name) => encodeURIComponent(name).replaceAll('%3A', ':'));
  return `vscode://file/${encoded.join('/')}${line === undefined ? '' : `:${line}`}`;
};

interface ShownOnceProps {
  /** What it is called: the new key. */
  name: string;
  text: string;
  /** What was made. */
  children: ComponentChildren;
}

/** A secret that was made just now, for the operator to take along: selected where it can be, wherever the form was. */
export const ShownOnce = ({ name, text, children }: ShownOnceProps) => {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [text]);
  return (
    <div class="box" role="status">
      <p>
        {children} Copy {name} now: it is not shown again.
      </p>
      <p class="line">
        <input
          {...{ ref: field, class: 'mono', readOnly: true, size: text.length }}
          value={text}
          aria-label={name}
        />
        <Copy class="small" name={name} text={text} />
      </p>
    </div>
  );
};

/** A link to the code host, where it said a place that a browser may go to. */
export const HostLink = ({ url, children }: { url: string | null; children: ComponentChildren }) =>
  url !== null && /^https?:\/\//i.test(url) ? (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  );
