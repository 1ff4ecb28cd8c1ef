import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { dossierCommand } from '../../../store/base/text.ts';
import { visible } from '../../../store/base/visible.ts';
import { isBrowser, PageContext } from './form.tsx';

interface CopyProps {
  text: string;
  /** The text of the button. */
  label?: string;
  /** What is copied, for screen readers. */
  name?: string;
  class?: string;
  keys?: string;
}

/** Copies a text to the clipboard. Not rendered without scripts. */
export const Copy = ({ text, label = 'Copy', name, keys, ...rest }: CopyProps) => {
  const [said, setSaid] = useState<string>();
  if (!isBrowser) return null;
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      // Browsers have a clipboard only on secure origins and localhost.
      setSaid('Copy failed');
    }
  };
  return (
    <button
      type="button"
      {...rest}
      onClick={() => void copy()}
      data-key={keys}
      aria-label={name && `${said ?? label}: ${name}`}
    >
      {said ?? label}
    </button>
  );
};

/** A command of `dossier`, to copy. */
export const Command = ({ words }: { words: string }) => {
  const command = dossierCommand(words, useContext(PageContext).workspace);
  return (
    <span>
      <code>{visible(command)}</code> <Copy class="small" text={command} name={command} />
    </span>
  );
};

/** A path, to copy or to open in an editor. */
export const Path = ({ name, path }: { name: string; path: string }) => (
  <>
    <code>{visible(path)}</code> <Copy class="small" text={path} name={name} />{' '}
    <OpenInEditor root={path} class="small button" label="Open" name={name} />
  </>
);

interface OpenProps {
  /** The worktree, or the path itself. */
  root: string;
  /** Relative to the root. */
  path?: string;
  label?: string;
  name?: string;
  class?: string;
}

/** Opens a directory or a file in an editor that handles `vscode://` links. */
export const OpenInEditor = ({ root, path, label = OPEN, name, ...rest }: OpenProps) => {
  const href = editorLink(root, path);
  if (href === undefined) return null;
  return (
    <a href={href} {...rest} aria-label={name && `${label}: ${name}`}>
      {label}
    </a>
  );
};

const OPEN = 'Open in editor';

/** The `vscode://` link to a file; undefined for a path that leaves the root or has invisible characters. */
export const editorLink = (root: string, path?: string): string | undefined => {
  const whole = path === undefined ? root : `${root}/${path}`;
  const [top, ...names] = whole.split('/');
  const leadsOut = top !== '' || names.some((name) => /^\.{0,2}$/.test(name));
  // Control and bidirectional characters could disguise the path.
  if (leadsOut || visible(whole) !== whole || /[\n\t]/.test(whole)) return undefined;
  // Editors read a position after a colon.
  const encoded = names.map((name) => encodeURIComponent(name).replaceAll('%3A', ':'));
  return `vscode://file/${encoded.join('/')}`;
};

interface ShownOnceProps {
  /** The name of the secret. */
  name: string;
  text: string;
  /** The sentence before the secret. */
  children: ComponentChildren;
}

/** A new secret, selected for copying. */
export const ShownOnce = ({ name, text, children }: ShownOnceProps) => {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [text]);
  return (
    <div class="box" role="status">
      <p>
        {children} Copy {name} now. It is not shown again.
      </p>
      <p class="line">
        <input
          ref={field}
          class="mono"
          readOnly
          size={text.length}
          value={text}
          aria-label={name}
        />
        <Copy class="small" name={name} text={text} />
      </p>
    </div>
  );
};

/** A link to the code host, if its address is one that a browser may open. */
export const HostLink = ({ url, children }: { url: string | null; children: ComponentChildren }) =>
  url !== null && /^https?:\/\//i.test(url) ? (
    <a href={url} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ) : (
    <span>{children}</span>
  );
