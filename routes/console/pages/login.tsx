import { OneField } from '../parts/one-field.tsx';
import { Refused } from '../parts/problems.tsx';

export interface LoginShown {
  form_key: string;
  error?: string;
}

export const Login = ({ form_key, error }: LoginShown) => (
  <>
    <h1>Log in</h1>
    <p>
      Give an API key, which <code>dossier key NAME</code> makes in a shell. This browser is known
      until it is closed, the daemon ends, or the key is revoked.
    </p>
    <Refused error={error} />
    <OneField
      {...{ action: '/dashboard/login', form_key, label: 'API key', button: 'Log in' }}
      {...{ name: 'key', type: 'password', maxLength: 200, placeholder: 'dossier_…' }}
    />
  </>
);
