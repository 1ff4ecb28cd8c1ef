import { Refused } from '../parts/refused.tsx';

export interface LoginShown {
  form_key: string;
  error?: string;
}

export const Login = ({ form_key, error }: LoginShown) => (
  <>
    <h1>Log in</h1>
    <p>
      Give an API key, which <code>dossier key</code> makes in a shell. This browser is known until
      it is closed, the daemon ends, or the key is revoked.
    </p>
    <Refused error={error} />
    <form method="post" action="/dashboard/login" class="line">
      <input type="hidden" name="form_key" value={form_key} />
      <label for="key">API key</label>
      <input
        {...{ id: 'key', name: 'key', type: 'password', maxLength: 200, required: true }}
        autocomplete="off"
        placeholder="dossier_…"
      />
      <button type="submit" class="primary">
        Log in
      </button>
    </form>
  </>
);
