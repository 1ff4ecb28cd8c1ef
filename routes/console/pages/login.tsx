import { dossierCommand } from '../../../store/base/text.ts';
import { visible } from '../../../store/base/visible.ts';
import { OneField } from '../parts/one-field.tsx';
import { FormError } from '../parts/problems.tsx';

export interface LoginShown {
  form_key: string;
  /** The page to return to. */
  back: string;
  /** The workspace, where commands have to name it. */
  workspace: string | undefined;
  error?: string;
}

export const Login = ({ form_key, back, workspace, error }: LoginShown) => (
  <>
    <h1>Log in</h1>
    <p>
      Enter an API key. Create one with{' '}
      <code>{visible(dossierCommand('key NAME', workspace))}</code> in a shell. You stay logged in
      until the browser is closed, the daemon stops or the key is revoked.
    </p>
    <FormError error={error} />
    <OneField
      action={`/dashboard/login?back=${encodeURIComponent(back)}`}
      form_key={form_key}
      label="API key"
      button="Log in"
      name="key"
      type="password"
      autofocus
      maxLength={200}
      placeholder="dossier_…"
    />
  </>
);
